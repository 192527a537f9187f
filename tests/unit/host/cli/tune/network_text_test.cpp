#include "host/cli/tune/network_text.h"

#include <doctest/doctest.h>

#include <string>

using namespace ferry;
using tune::KernelState;

namespace {

// A kernel that is faster with another algorithm, and layouts that are not.
tune::TunedNetwork tuned_network() {
  tune::TunedNetwork tuned;
  tuned.function = "net";
  tune::NetworkKernelResult& kernel = tuned.kernels.emplace_back();
  kernel.kernel = "conv_0";
  kernel.state = KernelState::tuned;
  kernel.seconds = 2e-3;
  kernel.algorithm = "direct";
  kernel.others = {{"winograd2", KernelState::tuned, {}, 1.25, 7, 0.5},
                   {"winograd4", KernelState::failed, "it is too large", 1.1, 0, 1.1}};
  kernel.best_share = 0.5;
  kernel.point = "conv.products: tile=2x4\n";
  kernel.point_algorithm = "winograd2";
  kernel.share_in_network = 0.8;
  kernel.is_used = true;
  tuned.layouts = tune::MeasuredLayouts{{}, "1100", "1010", 3, 1e-3, 1.25, false};
  return tuned;
}

}  // namespace

TEST_CASE("the text of a tuned network says which algorithms and layouts were tried, and what is used") {
  const std::string text = cli::network_text(tuned_network(), "");
  CHECK(text.find("conv_0, 2.00 ms: 1.25 times as fast in the network, 2.00 by itself, with the algorithm winograd2 in "
                  "place of direct\n") != std::string::npos);
  CHECK(text.find("conv_0 with the algorithm winograd2: 2.00 times as fast by itself as the default, direct, and by "
                  "estimates 0.80\n") != std::string::npos);
  CHECK(text.find("winograd4") == std::string::npos);
  CHECK(text.find("with other layouts of 2 groups the network is 0.80 times as fast, not used\n") != std::string::npos);
  tune::TunedNetwork same = tuned_network();
  same.layouts->chosen = same.layouts->by_default;
  CHECK(cli::network_text(same, "").find("the default layouts are the best by the times of 3 groups in both\n") !=
        std::string::npos);
}

TEST_CASE("the JSON of a tuned network has the algorithms of its kernels and its layouts") {
  const text::Json json = cli::network_json(tuned_network(), "");
  const text::Json& kernel = json.at("kernels").at(0);
  CHECK(kernel.at("algorithm") == "direct");
  CHECK(kernel.at("point_algorithm") == "winograd2");
  REQUIRE(kernel.at("others").size() == 2);
  CHECK(kernel.at("others")[0] == text::Json({{"algorithm", "winograd2"},
                                              {"state", "tuned"},
                                              {"estimated_share", 1.25},
                                              {"trials", 7},
                                              {"best_share", 0.5}}));
  CHECK(kernel.at("others")[1].at("reason") == "it is too large");
  CHECK_FALSE(kernel.at("others")[1].contains("best_share"));
  CHECK(json.at("layouts") ==
        text::Json({{"measured", 3}, {"changed", 2}, {"share_in_network", 1.25}, {"is_used", false}}));
  tune::TunedNetwork plain = tuned_network();
  plain.layouts.reset();
  plain.kernels[0].algorithm.clear();
  plain.kernels[0].others.clear();
  const text::Json without = cli::network_json(plain, "");
  CHECK_FALSE(without.contains("layouts"));
  CHECK_FALSE(without.at("kernels").at(0).contains("algorithm"));
  CHECK_FALSE(without.at("kernels").at(0).contains("others"));
}
