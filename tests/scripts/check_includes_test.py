"""Plants one violation at a time in a small tree and expects scripts/check_includes.py to name it."""
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import check_includes  # noqa: E402

CLEAN = {
    "base/status.h": "#pragma once\n#include <string>\n",
    "module/dtype.h": '#include "base/status.h"\n',
    "include/ferry/types.h": "#include <cstdint>\n#include <stdint.h>\n",
    "include/ferry/target/target.h": '#include "ferry/types.h"\n',
    "crosscompile/target/resolve.h": '#include "ferry/target/target.h"\n',
    "rpc/messages.h": '#include "module/dtype.h"\n',
    "rpc/wire/codec.cpp": '#include "rpc/messages.h"\n#include <cereal/cereal.hpp>\n',
    "device-runtime/loader/loader.h": '#include "module/dtype.h"\n',
    "device-runtime/main.cpp": '#include "device-runtime/loader/loader.h"\n',
    "device-runtime/stub/iostream": "#include <iosfwd>\n",
    "crosscompile/ir/expr.h": '#include "module/dtype.h"\n',
    "crosscompile/codegen/llvm/codegen.cpp": '#include <llvm/IR/IRBuilder.h>\n#include "crosscompile/ir/expr.h"\n',
    "crosscompile/link/link.cpp": "#include <lld/Common/Driver.h>\n",
    "host/lang/tensor.cpp": '#include <iostream>\n#include "crosscompile/ir/expr.h"\n',
    "host/client/client.cpp": '#include "rpc/wire/frame.h"\n',
    "rpc/wire/frame.h": "",
    "tests/unit/host/lang/tensor_test.cpp": '#include <doctest/doctest.h>\n#include "crosscompile/ir/expr.h"\n',
}


class PlantedViolations(unittest.TestCase):
    def errors(self, **planted):
        with tempfile.TemporaryDirectory() as folder:
            for path, text in {**CLEAN, **planted.get("files", {})}.items():
                file = Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            return check_includes.check_tree(Path(folder))

    def refused(self, path, text, *words):
        errors = self.errors(files={path: text})
        self.assertEqual(len(errors), 1, errors)
        for word in (path, *words):
            self.assertIn(word, errors[0])

    def test_a_clean_tree_passes(self):
        self.assertEqual(self.errors(), [])

    def test_rpc_may_not_include_the_device(self):
        self.refused("rpc/wire/bad.cpp", '#include "device-runtime/loader/loader.h"\n', ":1:", "rpc and rpc/transport, not device-runtime/loader")

    def test_the_compiler_may_not_include_the_wire(self):
        self.refused("crosscompile/ir/bad.cpp", '\n#include "rpc/messages.h"\n', ":2:", "may include module, not rpc")

    def test_the_compiler_may_not_include_the_host(self):
        files = {"host/lang/tensor.h": "", "crosscompile/ir/bad.h": '#include "host/lang/tensor.h"\n'}
        errors = self.errors(files=files)
        self.assertEqual(len(errors), 1, errors)
        self.assertIn("host/lang stands above crosscompile/ir", errors[0])

    def test_the_device_may_not_include_the_compiler(self):
        self.refused("device-runtime/loader/bad.cpp", '#include "crosscompile/ir/expr.h"\n', "not crosscompile/ir")

    def test_a_lower_folder_may_not_include_a_higher_one(self):
        self.refused("base/bad.h", '#include "module/dtype.h"\n', "module stands above base")

    def test_a_product_folder_may_not_include_a_test(self):
        files = {"tests/helper.h": "", "host/lang/bad.cpp": '#include "tests/helper.h"\n'}
        self.assertIn("may not include tests", self.errors(files=files)[0])

    def test_an_unknown_folder_is_named(self):
        self.refused("host/novel/bad.cpp", '#include "host/lang/bad.h"\n', "expected a path from the root")
        files = {"host/novel/a.h": "", "host/novel/bad.cpp": '#include "host/novel/a.h"\n'}
        self.assertIn("host/novel is not in cmake/layers.json", self.errors(files=files)[0])

    def test_llvm_headers_stay_behind_two_folders(self):
        self.refused("crosscompile/passes/bad.cpp", "#include <llvm/IR/Value.h>\n", "<llvm/IR/Value.h> belongs in")
        self.refused("host/client/bad.cpp", "#include <lld/Common/Driver.h>\n", "<lld/Common/Driver.h> belongs in")
        self.refused("tests/unit/bad.cpp", "#include <llvm-c/Core.h>\n", "<llvm-c/Core.h> belongs in")

    def test_streams_stay_out_of_the_device(self):
        self.refused("rpc/wire/bad.h", "#  include <iostream>\n", "<iostream> must not appear in base, module, rpc")
        self.refused("device-runtime/loader/bad.cpp", "#include <sstream>\n", "<sstream> must not appear")
        self.refused("rpc/wire/bad.cpp", "#include <cereal/archives/binary.hpp>\n", "cereal/archives/binary.hpp")

    def test_host_libraries_stay_in_the_host(self):
        self.refused("base/bad.cpp", "#include <CLI/CLI.hpp>\n", "<CLI/CLI.hpp> belongs in host")
        self.refused("crosscompile/ir/bad.cpp", "#include <doctest/doctest.h>\n", "it is for the tests")

    def test_a_relative_include_is_refused(self):
        self.refused("module/bad.cpp", '#include "dtype.h"\n', "expected a path from the root", '"dtype.h"')
        self.refused("module/bad.cpp", '#include "../base/status.h"\n', "expected a path from the root")

    def test_our_own_header_in_angle_brackets_is_refused(self):
        self.refused("module/bad.cpp", "#include <base/status.h>\n", "in quotes")

    def test_an_installed_header_includes_installed_headers_alone(self):
        self.refused("include/ferry/target/bad.h", '#include "module/dtype.h"\n', "which is not installed")
        self.refused("include/ferry/target/bad.h", "#include <asio.hpp>\n", "the standard library, not <asio.hpp>")
        self.refused("include/ferry/target/bad.h", "#include <ferry/types.h>\n", "in quotes")

    def test_an_installed_header_belongs_to_a_layer(self):
        self.refused("module/bad.h", '#include "ferry/target/target.h"\n', "crosscompile/target stands above module")
        self.refused("include/ferry/types.h", '#include "ferry/target/target.h"\n', "stands above module")
        files = {"include/ferry/novel.h": "", "base/bad.h": '#include "ferry/novel.h"\n'}
        self.assertIn("ferry is not in cmake/layers.json", self.errors(files=files)[0])

    def test_a_file_of_401_lines_is_refused_and_one_of_400_is_not(self):
        self.assertEqual(self.errors(files={"host/lang/long.cpp": "\n" * 400}), [])
        self.refused("host/lang/long.cpp", "\n" * 401, "expected at most 400 lines, got 401")
        self.refused("scripts/long.sh", "\n" * 401, "got 401")


if __name__ == "__main__":
    unittest.main()
