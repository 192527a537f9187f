#include "tests/unit/crosscompile/passes/standard_kernels.h"

namespace ferry::passes {

using namespace ir;

namespace {

Expr zero(DType dtype) { return constant(Type(dtype), std::int64_t{0}); }

}  // namespace

Function vector_add(DType dtype, std::int64_t lanes, ForKind outer) {
  Kernel kernel;
  const Expr n = kernel.size("n");
  const BufferRef a = kernel.input("a", dtype, {n}), b = kernel.input("b", dtype, {n}),
                  out = kernel.output("out", dtype, {n});
  const Expr xo = index("xo"), xi = index("xi"), x = xo * Expr(lanes) + xi;
  const Stmt body = If::make(x < n, put(out, {x}, at(a, {x}) + at(b, {x})));
  kernel.function.body = loop(xo, ceil_div(n, Expr(lanes)), loop(xi, Expr(lanes), body, kVectorized), outer);
  return kernel.function;
}

Function tiled_matmul(DType dtype, std::int64_t lanes, ForKind outer) {
  Kernel kernel;
  const Expr m = kernel.size("m"), n = kernel.size("n");
  const Expr k = 5;
  const BufferRef a = kernel.input("a", dtype, {m, k}), b = kernel.input("b", dtype, {k, n}),
                  out = kernel.output("out", dtype, {m, n});
  const BufferRef acc = array("acc", dtype, {4, Expr(lanes)});
  const Expr yo = index("yo"), xo = index("xo"), r = index("k");
  const auto tile = [&](const std::function<Stmt(const Expr& yi, const Expr& xi)>& body) {
    const Expr yi = index("yi"), xi = index("xi");
    return loop(yi, 4, loop(xi, Expr(lanes), body(yi, xi), kVectorized), kUnrolled);
  };
  const auto row = [&](const Expr& yi) { return yo * 4 + yi; };
  const auto column = [&](const Expr& xi) { return xo * Expr(lanes) + xi; };
  const auto guarded = [&](const Expr& yi, const Expr& xi, Stmt body) {
    return If::make(row(yi) < m && column(xi) < n, std::move(body));
  };
  const Stmt init = tile([&](const Expr& yi, const Expr& xi) { return put(acc, {yi, xi}, zero(dtype)); });
  const Stmt update = tile([&](const Expr& yi, const Expr& xi) {
    return guarded(yi, xi, put(acc, {yi, xi}, at(acc, {yi, xi}) + at(a, {row(yi), r}) * at(b, {r, column(xi)})));
  });
  const Stmt finish = tile([&](const Expr& yi, const Expr& xi) {
    return guarded(yi, xi, put(out, {row(yi), column(xi)}, at(acc, {yi, xi})));
  });
  const Stmt body = Allocate::make(acc, block({init, loop(r, k, update), finish}));
  kernel.function.body = loop(yo, ceil_div(m, 4), loop(xo, ceil_div(n, Expr(lanes)), body), outer);
  return kernel.function;
}

Function row_sum(DType dtype, std::int64_t lanes) {
  Kernel kernel;
  const Expr m = kernel.size("m"), n = kernel.size("n");
  const BufferRef a = kernel.input("a", dtype, {m, n}), out = kernel.output("out", dtype, {m});
  const BufferRef acc = array("acc", dtype, {Expr(lanes)}), total = array("total", dtype, {});
  const Expr y = index("y"), xo = index("xo"), i0 = index("xi"), i1 = index("xi"), i2 = index("xi");
  const Expr x = xo * Expr(lanes) + i1;
  const Stmt init = loop(i0, Expr(lanes), put(acc, {i0}, zero(dtype)), kVectorized);
  const Stmt update = If::make(x < n, put(acc, {i1}, at(acc, {i1}) + at(a, {y, x})));
  const Stmt combine = put(total, {}, at(total, {}) + at(acc, {i2}));
  const Stmt finish = Allocate::make(
      total,
      block({put(total, {}, zero(dtype)), loop(i2, Expr(lanes), combine, kVectorized), put(out, {y}, at(total, {}))}));
  const Stmt sum = loop(xo, ceil_div(n, Expr(lanes)), loop(i1, Expr(lanes), update, kVectorized));
  kernel.function.body = loop(y, m, Allocate::make(acc, block({init, sum, finish})), kParallel);
  return kernel.function;
}

Function padded_convolution(DType dtype, std::int64_t lanes, ForKind outer) {
  Kernel kernel;
  const Expr h = kernel.size("h"), w = kernel.size("w");
  const BufferRef image = kernel.input("image", dtype, {h, w}), weight = kernel.input("weight", dtype, {3, 3}),
                  out = kernel.output("out", dtype, {h, w});
  const BufferRef acc = array("acc", dtype, {Expr(lanes)});
  const Expr y = index("y"), xo = index("xo"), ky = index("ky"), kx = index("kx");
  const Expr i0 = index("xi"), i1 = index("xi"), i2 = index("xi");
  const auto column = [&](const Expr& xi) { return xo * Expr(lanes) + xi; };
  const Expr iy = y + ky - 1, ix = column(i1) + kx - 1;
  const Expr value = if_then_else(iy >= 0 && iy < h && ix >= 0 && ix < w, at(image, {iy, ix}), zero(dtype));
  const Stmt update = If::make(column(i1) < w, put(acc, {i1}, at(acc, {i1}) + value * at(weight, {ky, kx})));
  const Stmt body = Allocate::make(
      acc,
      block({loop(i0, Expr(lanes), put(acc, {i0}, zero(dtype)), kVectorized),
             loop(ky, 3, loop(kx, 3, loop(i1, Expr(lanes), update, kVectorized), kUnrolled)),
             loop(i2, Expr(lanes), If::make(column(i2) < w, put(out, {y, column(i2)}, at(acc, {i2}))), kVectorized)}));
  kernel.function.body = loop(y, h, loop(xo, ceil_div(w, Expr(lanes)), body), outer);
  return kernel.function;
}

Function zero_pad(DType dtype, std::int64_t lanes) {
  Kernel kernel;
  const Expr h = kernel.size("h"), w = kernel.size("w");
  const BufferRef a = kernel.input("a", dtype, {h, w}), out = kernel.output("out", dtype, {h + 2, w + 2});
  const Expr y = index("y"), xo = index("xo"), xi = index("xi"), x = xo * Expr(lanes) + xi;
  const Expr border = y == 0 || y == h + 1 || x < 1 || x >= w + 1;
  const Stmt body = If::make(x < w + 2, put(out, {y, x}, if_then_else(border, zero(dtype), at(a, {y - 1, x - 1}))));
  kernel.function.body =
      loop(y, h + 2, loop(xo, ceil_div(w + 2, Expr(lanes)), loop(xi, Expr(lanes), body, kVectorized)));
  return kernel.function;
}

Function lower_triangle(DType dtype, std::int64_t lanes) {
  Kernel kernel;
  const Expr n = kernel.size("n"), m = kernel.size("m");
  const BufferRef a = kernel.input("a", dtype, {n, m}), out = kernel.output("out", dtype, {n, m});
  const Expr i = index("i"), jo = index("jo"), ji = index("ji"), j = jo * Expr(lanes) + ji;
  const Stmt body = If::make(j < m, put(out, {i, j}, select(i >= j, at(a, {i, j}), zero(dtype))));
  kernel.function.body =
      loop(i, n, loop(jo, ceil_div(m, Expr(lanes)), loop(ji, Expr(lanes), body, kVectorized)), kParallel);
  return kernel.function;
}

Function staged(DType dtype) {
  Kernel kernel;
  const Expr m = kernel.size("m"), n = kernel.size("n");
  const BufferRef a = kernel.input("a", dtype, {m, n}), out = kernel.output("out", dtype, {m, n});
  const BufferRef first = array("first", dtype, {m, n}, Scope::global),
                  second = array("second", dtype, {n}, Scope::global),
                  third = array("third", dtype, {m, n}, Scope::global), row = array("row", dtype, {n}, Scope::global);
  const auto nest = [&](const std::function<Stmt(const Expr&, const Expr&)>& body) {
    const Expr y = index("y"), x = index("x");
    return loop(y, m, loop(x, n, body(y, x)));
  };
  const Expr p = index("p"), q = index("q"), s = index("s"), t = index("t"), y = index("y");
  const Stmt stages = block({
      nest([&](const Expr& i, const Expr& j) { return put(first, {i, j}, at(a, {i, j}) + at(a, {i, j})); }),
      loop(p, n, put(second, {p}, zero(dtype))),
      nest([&](const Expr& i, const Expr& j) { return put(second, {j}, at(second, {j}) + at(first, {i, j})); }),
      nest([&](const Expr& i, const Expr& j) { return put(third, {i, j}, at(second, {j}) - at(a, {i, j})); }),
      loop(y, m,
           Allocate::make(row, block({loop(q, n, put(row, {q}, at(third, {y, q}))),
                                      loop(s, n, put(out, {y, s}, at(row, {n - 1 - s})))})),
           kParallel),
  });
  (void)t;
  kernel.function.body = Allocate::make(first, Allocate::make(second, Allocate::make(third, stages)));
  return kernel.function;
}

Function fused_rows(DType dtype, std::int64_t lanes) {
  Kernel kernel;
  const Expr h = kernel.size("h"), w = kernel.size("w");
  const BufferRef a = kernel.input("a", dtype, {2, h, w}), out = kernel.output("out", dtype, {2, h, w});
  const Expr f = index("f"), xo = index("xo"), xi = index("xi"), ky = index("ky");
  const Expr c = f / h, y = f % h, x = xo * Expr(lanes) + xi, iy = y + ky - 1;
  const Stmt update =
      put(out, {c, y, x}, at(out, {c, y, x}) + if_then_else(iy >= 0 && iy < h, at(a, {c, iy, x}), zero(dtype)));
  const Expr x0 = xo * Expr(lanes) + xi;
  const Stmt init = put(out, {c, y, x0}, zero(dtype));
  const Stmt body = block({init, loop(ky, 3, update)});
  kernel.function.body =
      loop(f, 2 * h, loop(xo, ceil_div(w, Expr(lanes)), loop(xi, Expr(lanes), If::make(x < w, body), kVectorized)),
           kParallel);
  return kernel.function;
}

std::vector<StandardKernel> standard_kernels() {
  return {
      {"vector_add", vector_add(DType::f32, 8)},
      {"vector_add parallel", vector_add(DType::i8, 3, kParallel)},
      {"vector_add of one lane", vector_add(DType::f64, 1)},
      {"vector_add wider than the registers", vector_add(DType::i32, 100)},
      {"vector_add float16", vector_add(DType::f16, 4)},
      {"tiled_matmul", tiled_matmul(DType::f32, 8)},
      {"tiled_matmul parallel", tiled_matmul(DType::i32, 5, kParallel)},
      {"tiled_matmul bfloat16", tiled_matmul(DType::bf16, 4)},
      {"row_sum", row_sum(DType::f32, 8)},
      {"row_sum float16", row_sum(DType::f16, 3)},
      {"padded_convolution", padded_convolution(DType::f32, 4)},
      {"padded_convolution parallel", padded_convolution(DType::i16, 8, kParallel)},
      {"zero_pad", zero_pad(DType::f32, 4)},
      {"lower_triangle", lower_triangle(DType::f32, 4)},
      {"staged", staged(DType::f32)},
      {"fused_rows", fused_rows(DType::f32, 4)},
  };
}

}  // namespace ferry::passes
