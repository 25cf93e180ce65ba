// Programs as their users wrote them, of modules before optimization.
#include "program/written.h"

#include <set>
#include <string>
#include <vector>

#include "catch.h"

using namespace whyoom;

namespace TEST_FILE {

using Dims = std::vector<std::int64_t>;

Written Read(const std::string& module, const std::string& head = "") {
  return {ReadHlo(*OpenMemory("HloModule m" + head + "\n\n" + module)), RoleWords()};
}

// "a[1024,1024] b[…]": results in their order.
std::string Results(const Written& written) {
  std::string shown;
  for (const Result& result : written.results()) {
    if (!shown.empty()) shown += " ";
    shown += written.program().module().instructions[static_cast<std::size_t>(result.instruction)].name;
    for (const std::int64_t dim : result.dims) shown += "," + std::to_string(dim);
  }
  return shown;
}

// Three steps, in each of which four steps work on an array.
const char* const kLoops = R"(%less4 (c: (s32[], f32[1024,1024])) -> pred[] {
  %c = (s32[], f32[1024,1024]) parameter(0)
  %ci = s32[] get-tuple-element(%c), index=0
  %four = s32[] constant(4)
  ROOT %cl = pred[] compare(%ci, %four), direction=LT
}

%inner (d: (s32[], f32[1024,1024])) -> (s32[], f32[1024,1024]) {
  %d = (s32[], f32[1024,1024]) parameter(0)
  %di = s32[] get-tuple-element(%d), index=0
  %dx = f32[1024,1024] get-tuple-element(%d), index=1
  %deep = f32[1024,1024] multiply(%dx, %dx)
  ROOT %dt = (s32[], f32[1024,1024]) tuple(%di, %deep)
}

%less3 (a: (s32[], f32[1024,1024])) -> pred[] {
  %a = (s32[], f32[1024,1024]) parameter(0)
  %ai = s32[] get-tuple-element(%a), index=0
  %three = s32[] constant(3)
  ROOT %al = pred[] compare(%ai, %three), direction=LT
}

%outer (b: (s32[], f32[1024,1024])) -> (s32[], f32[1024,1024]) {
  %b = (s32[], f32[1024,1024]) parameter(0)
  %bi = s32[] get-tuple-element(%b), index=0
  %bx = f32[1024,1024] get-tuple-element(%b), index=1
  %mid = f32[1024,1024] add(%bx, %bx)
  %bt = (s32[], f32[1024,1024]) tuple(%bi, %mid)
  ROOT %loop2 = (s32[], f32[1024,1024]) while(%bt), condition=%less4, body=%inner
}

ENTRY %main {
  %x = f32[1024,1024] parameter(0)
  %i = s32[] constant(0)
  %top = f32[1024,1024] negate(%x), metadata={op_name="jit(f)/neg"}
  %t = (s32[], f32[1024,1024]) tuple(%i, %top)
  ROOT %loop1 = (s32[], f32[1024,1024]) while(%t), condition=%less3, body=%outer
}
)";

TEST_CASE("dimensions in order of size", "[program]") {
  CHECK(Sorted({}).empty());
  CHECK(Sorted({7}) == Dims{7});
  CHECK(Sorted({8, 1024, 8, 2}) == Dims{2, 8, 8, 1024});
}

TEST_CASE("a program of nothing has nothing, and is whole", "[program]") {
  const Written written = Read("");
  CHECK(written.whole());
  CHECK(written.results().empty());
  CHECK(written.loops().empty());
  CHECK(written.donated().empty());
  CHECK(written.on_host().empty());
  CHECK(written.scores().empty());
  CHECK(written.callbacks() == 0);
}

TEST_CASE("what makes an array is a result, what hands one on is none, and small ones are left out", "[program]") {
  const Written written = Read(R"(ENTRY %main {
  %x = f32[1024,1024] parameter(0)
  %sum = f32[1024,1024] add(%x, %x)
  %view = f32[1,1048576] reshape(%sum)
  %one = bf16[1,1048576] cosine(%view)
  %whole = s32[1024,1024] popcnt(%x)
  %small = f32[8,8] slice(%x), slice={[0:8], [0:8]}
  ROOT %little = f32[8,8] add(%small, %small)
}
)");
  CHECK(Results(written) == "sum,1024,1024 one,1048576 whole,1024,1024");
  REQUIRE(written.results().size() == 3);
  CHECK(written.results()[0].elements == 1048576);
  CHECK(written.results()[0].is_float);
  CHECK(written.results()[0].bits == 32);
  CHECK(written.results()[0].loops.empty());
  CHECK(written.results()[1].is_float);
  CHECK(written.results()[1].bits == 16);
  CHECK_FALSE(written.results()[2].is_float);
}

TEST_CASE("each result knows the loops round it, outermost first", "[program]") {
  const Written written = Read(kLoops);
  const HloModule& module = written.program().module();
  REQUIRE(written.loops().size() == 2);
  CHECK(written.loops()[0].instruction == module.Find("loop1"));
  CHECK(written.loops()[0].steps == 3);
  CHECK(written.loops()[0].within.empty());
  CHECK(written.loops()[1].instruction == module.Find("loop2"));
  CHECK(written.loops()[1].steps == 4);
  CHECK(written.loops()[1].within == std::vector<int>{0});
  CHECK(Results(written) == "top,1024,1024 mid,1024,1024 deep,1024,1024");
  REQUIRE(written.results().size() == 3);
  CHECK(written.results()[0].loops.empty());
  CHECK(written.results()[1].loops == std::vector<int>{0});
  CHECK(written.results()[2].loops == std::vector<int>{0, 1});
  CHECK(written.OpName(module.Find("top")) == "jit(f)/neg");
  CHECK(written.OpName(module.Find("mid")).empty());
}

TEST_CASE("parameters are given away, or lie with the host, as the head says", "[program]") {
  const std::string body =
      "ENTRY %main {\n  %a = f32[8] parameter(0)\n  %b = f32[8] parameter(1)\n"
      "  %c = f32[8] parameter(2)\n  ROOT %r = f32[8] add(%a, %b)\n}\n";
  const Written written = Read(body,
                               ", input_output_alias={ {}: (1, {}, may-alias) }, buffer_donor={ (2, {}) }, "
                               "entry_computation_layout={(f32[8]{0}, f32[8]{0:S(5)}, f32[8]{0})->f32[8]{0}}");
  CHECK(written.donated() == std::set<int>{1, 2});
  CHECK(written.on_host() == std::set<int>{1});
  CHECK(Read(body).donated().empty());
  CHECK(Read(body).on_host().empty());
  REQUIRE(written.program().parameters().size() == 3);
  CHECK(written.DimsOf(written.program().parameters()[0]) == Dims{8});
}

TEST_CASE("a result that lies with the host makes no parameter do so", "[program]") {
  const Written written = Read("ENTRY %main {\n  %a = f32[8,4] parameter(0)\n  ROOT %r = f32[8,4] negate(%a)\n}\n",
                               ", entry_computation_layout={(f32[8,4]{1,0})->f32[8,4]{1,0:S(5)}}");
  CHECK(written.on_host().empty());
}

TEST_CASE("calls of the host are counted", "[program]") {
  const Written written = Read(R"(ENTRY %main {
  %x = f32[8] parameter(0)
  %p = () custom-call(%x), custom_call_target="xla_python_cpu_callback"
  %q = () custom-call(%x), custom_call_target="xla_ffi_python_cpu_callback"
  ROOT %n = f32[8] custom-call(%x), custom_call_target="Sharding"
}
)");
  CHECK(written.callbacks() == 2);
}

TEST_CASE("scores of attention are those that a softmax follows", "[program]") {
  const auto of = [](const std::string& operation) {
    return Read(
               "ENTRY %main {\n  %q = f32[4,8,512,64] parameter(0)\n  %k = f32[4,8,256,64] parameter(1)\n"
               "  %s = f32[4,8,512,256] dot(%q, %k), lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, "
               "lhs_contracting_dims={3}, rhs_contracting_dims={3}\n  ROOT %e = f32[4,8,512,256] " +
               operation + "(%s)\n}\n")
        .scores();
  };
  CHECK(of("exponential") == std::set<Dims>{{4, 8, 256, 512}});
  CHECK(of("negate").empty());
}

}  // namespace TEST_FILE
