#include "program/dimensions.h"

#include <algorithm>
#include <string>
#include <vector>

#include "catch.h"

using namespace whyoom;

namespace TEST_FILE {

HloModule Read(const std::string& text) { return ReadHlo(*OpenMemory(text)); }

// Replaces each '@' by `number`.
std::string Numbered(std::string text, const std::string& number) {
  for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@', at + number.size()))
    text.replace(at, 1, number);
  return text;
}

// "%t, %t, %t"
std::string Times(const std::string& item, int times) {
  std::string list = item;
  for (int i = 1; i < times; ++i) list += ", " + item;
  return list;
}

// The dimension groups as letters, in the order of first mention: "ab bc" for two arrays with a common dimension.
// Parentheses enclose a dimension of several factors. A dot is a dimension of size 1.
std::string Letters(const HloModule& module, const std::vector<std::string>& names) {
  const Dimensions dimensions(module);
  Groups seen;
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ' ';
    const InstructionId instruction = module.Find(name);
    REQUIRE(instruction);
    for (const Groups& groups : dimensions.GroupsOf(ArrayId{instruction, 0})) {
      if (groups.empty()) text += '.';
      if (groups.size() > 1) text += '(';
      for (const GroupId group : groups) {
        auto at = std::find(seen.begin(), seen.end(), group);
        if (at == seen.end()) at = seen.insert(at, group);
        text += static_cast<char>('a' + (at - seen.begin()));
      }
      if (groups.size() > 1) text += ')';
    }
  }
  return text;
}

TEST_CASE("a dot propagates batch and free dimensions and equates contracted ones", "[program]") {
  const HloModule module = Read(R"(HloModule m

ENTRY %main (q: f32[2,16,8,64], k: f32[2,32,8,64]) -> f32[2,8,16,32] {
  %q = f32[2,16,8,64]{3,2,1,0} parameter(0)
  %k = f32[2,32,8,64]{3,2,1,0} parameter(1)
  ROOT %scores = f32[2,8,16,32]{3,2,1,0} dot(%q, %k), lhs_batch_dims={0,2}, rhs_batch_dims={0,2}, lhs_contracting_dims={3}, rhs_contracting_dims={3}
}
)");
  CHECK(Letters(module, {"q", "k", "scores"}) == "abcd aecd acbe");
}

TEST_CASE("a convolution can be a dot", "[program]") {
  const HloModule module = Read(R"(HloModule m

ENTRY %main (x: f32[128,512], w: f32[512,256]) -> f32[128,256] {
  %x = f32[128,512]{1,0:T(8,128)} parameter(0)
  %w = f32[512,256]{1,0:T(8,128)} parameter(1)
  ROOT %y = f32[128,256]{1,0:T(8,128)} convolution(%x, %w), dim_labels=bf_io->bf
}
)");
  CHECK(Letters(module, {"x", "w", "y"}) == "ab bc ac");
}

TEST_CASE("an image convolution relates positions", "[program]") {
  const HloModule module = Read(R"(HloModule m

ENTRY %main (x: f32[16,56,56,64], w: f32[3,3,64,128], dy: f32[16,28,28,128]) -> (f32[16,28,28,128], f32[3,3,64,128]) {
  %x = f32[16,56,56,64]{3,2,1,0} parameter(0)
  %w = f32[3,3,64,128]{3,2,1,0} parameter(1)
  %dy = f32[16,28,28,128]{3,2,1,0} parameter(2)
  %y = f32[16,28,28,128]{3,2,1,0} convolution(%x, %w), window={size=3x3 stride=2x2 pad=0_1x0_1}, dim_labels=b01f_01io->b01f
  %dw = f32[3,3,64,128]{3,2,1,0} convolution(%x, %dy), window={size=28x28 rhs_dilate=2x2}, dim_labels=f01b_i01o->01bf
  ROOT %t = (f32[16,28,28,128]{3,2,1,0}, f32[3,3,64,128]{3,2,1,0}) tuple(%y, %dw)
}
)");
  CHECK(Letters(module, {"x", "y"}) == "abcd abce");
  CHECK(Letters(module, {"w", "dw", "x", "dy"}) == "abcd efcg hijc hklg");
}

TEST_CASE("a reshape splits dimensions in all arrays, a tiled bitcast only above its tiles", "[program]") {
  const HloModule module = Read(R"(HloModule m

ENTRY %main (x: f32[2,8192,1024]) -> f32[64,8,8,128] {
  %x = f32[2,8192,1024]{2,1,0:T(8,128)} parameter(0)
  %flat = f32[16384,1024]{1,0:T(8,128)} bitcast(%x)
  %heads = f32[2,8192,16,64]{3,2,1,0:T(8,128)} reshape(%flat)
  %y = f32[64,1024]{1,0:T(8,128)} slice(%flat), slice={[0:64], [0:1024]}
  ROOT %tiles = f32[8,8,8,128]{3,2,1,0:T(8,128)} bitcast(%y)
}
)");
  CHECK(Letters(module, {"x", "flat", "heads"}) == "ab(cd) (ab)(cd) abcd");
  CHECK(Letters(module, {"y", "tiles"}) == "a(bc) defg");  // tiles of 8 x 128 are not rows and columns
}

TEST_CASE("loop-carried values keep their dimensions, and stacked dimensions are equated", "[program]") {
  const HloModule module = Read(R"(HloModule m

%write (p0: f32[24,128,64], p1: s32[], p2: f32[128,64]) -> f32[24,128,64] {
  %p0 = f32[24,128,64]{2,1,0} parameter(0)
  %p1 = s32[] parameter(1)
  %p2 = f32[128,64]{1,0} parameter(2)
  %one = f32[1,128,64]{2,1,0} bitcast(%p2)
  %zero = s32[] constant(0)
  ROOT %put = f32[24,128,64]{2,1,0} dynamic-update-slice(%p0, %one, %p1, %zero, %zero)
}

%body (arg: (s32[], f32[128,64], f32[24,128,64], f32[24,64,64])) -> (s32[], f32[128,64], f32[24,128,64], f32[24,64,64]) {
  %arg = (s32[], f32[128,64]{1,0}, f32[24,128,64]{2,1,0}, f32[24,64,64]{2,1,0}) parameter(0)
  %i = s32[] get-tuple-element(%arg), index=0
  %x = f32[128,64]{1,0} get-tuple-element(%arg), index=1
  %stack = f32[24,128,64]{2,1,0} get-tuple-element(%arg), index=2
  %ws = f32[24,64,64]{2,1,0} get-tuple-element(%arg), index=3
  %zero.1 = s32[] constant(0)
  %layer = f32[1,64,64]{2,1,0} dynamic-slice(%ws, %i, %zero.1, %zero.1), dynamic_slice_sizes={1,64,64}
  %w = f32[64,64]{1,0} bitcast(%layer)
  %y = f32[128,64]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %next = f32[24,128,64]{2,1,0} fusion(%stack, %i, %x), kind=kLoop, calls=%write
  %inc = s32[] constant(1)
  %i.1 = s32[] add(%i, %inc)
  ROOT %out = (s32[], f32[128,64]{1,0}, f32[24,128,64]{2,1,0}, f32[24,64,64]{2,1,0}) tuple(%i.1, %y, %next, %ws)
}

%cond (arg.1: (s32[], f32[128,64], f32[24,128,64], f32[24,64,64])) -> pred[] {
  %arg.1 = (s32[], f32[128,64]{1,0}, f32[24,128,64]{2,1,0}, f32[24,64,64]{2,1,0}) parameter(0)
  %i.2 = s32[] get-tuple-element(%arg.1), index=0
  %n = s32[] constant(24)
  ROOT %lt = pred[] compare(%i.2, %n), direction=LT
}

ENTRY %main (x0: f32[128,64], w0: f32[24,64,64]) -> f32[24,128,64] {
  %x0 = f32[128,64]{1,0} parameter(0)
  %w0 = f32[24,64,64]{2,1,0} parameter(1)
  %start = s32[] constant(0)
  %room = f32[24,128,64]{2,1,0} custom-call(), custom_call_target="AllocateBuffer"
  %init = (s32[], f32[128,64]{1,0}, f32[24,128,64]{2,1,0}, f32[24,64,64]{2,1,0}) tuple(%start, %x0, %room, %w0)
  %loop = (s32[], f32[128,64]{1,0}, f32[24,128,64]{2,1,0}, f32[24,64,64]{2,1,0}) while(%init), condition=%cond, body=%body
  ROOT %kept = f32[24,128,64]{2,1,0} get-tuple-element(%loop), index=2
}
)");
  // The residual equates the input and output dimensions of the weights.
  CHECK(Letters(module, {"x0", "w0", "room", "kept"}) == "ab cbb cab cab");
  const Dimensions dimensions(module);
  REQUIRE(dimensions.loops.size() == 1);
  CHECK(dimensions.loops[0].steps == 24);
}

TEST_CASE("a loop's operand reaches its body even if the body returns another shape", "[program]") {
  const HloModule module = Read(R"(HloModule m

%body (arg: (s32[], f32[8,16])) -> (s32[], f32[8,16]) {
  %arg = (s32[], f32[8,16]{1,0}) parameter(0)
  %i = s32[] get-tuple-element(%arg), index=0
  %x = f32[8,16]{1,0} get-tuple-element(%arg), index=1
  %y = f32[8,16]{1,0} iota(), iota_dimension=0
  ROOT %out = (s32[], f32[8,16]{1,0}) tuple(%i, %y)
}

%cond (arg.1: (s32[], f32[8,16])) -> pred[] {
  %arg.1 = (s32[], f32[8,16]{1,0}) parameter(0)
  %z = f32[8,16]{1,0} get-tuple-element(%arg.1), index=1
  ROOT %go = pred[] constant(true)
}

ENTRY %main (x0: f32[8,16]) -> f32[8,16] {
  %x0 = f32[8,16]{1,0} parameter(0)
  %start = s32[] constant(0)
  %init = (s32[], f32[8,16]{1,0}) tuple(%start, %x0)
  %loop = (s32[], f32[8,16]{1,0}) while(%init), condition=%cond, body=%body
  ROOT %end = f32[8,16]{1,0} get-tuple-element(%loop), index=1
}
)");
  CHECK(Letters(module, {"x0", "x", "y", "z", "end"}) == "ab ab ab ab ab");
}

TEST_CASE("gathers select rows by index and keep the other dimensions", "[program]") {
  const HloModule module = Read(R"(HloModule m

ENTRY %main (table: f32[32000,512], ids: s32[4,128]) -> f32[4,128,512] {
  %table = f32[32000,512]{1,0} parameter(0)
  %ids = s32[4,128]{1,0} parameter(1)
  ROOT %rows = f32[4,128,512]{2,1,0} gather(%table, %ids), offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,512}
}
)");
  CHECK(Letters(module, {"table", "ids", "rows"}) == "ab cd cdb");
}

TEST_CASE("a gather of a part of a row does not keep that dimension", "[program]") {
  const HloModule module = Read(R"(HloModule m

ENTRY %main (table: f32[32000,512], ids: s32[7]) -> f32[7,32] {
  %table = f32[32000,512]{1,0} parameter(0)
  %ids = s32[7]{0} parameter(1)
  ROOT %rows = f32[7,32]{1,0} gather(%table, %ids), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,32}
}
)");
  CHECK(Letters(module, {"table", "ids", "rows"}) == "ab c cd");
}

TEST_CASE("scatters write rows by index and keep the other dimensions", "[program]") {
  const HloModule module = Read(R"(HloModule m

ENTRY %main (table: f32[32000,512], ids: s32[4,128,1], rows: f32[4,128,512]) -> f32[32000,512] {
  %table = f32[32000,512]{1,0} parameter(0)
  %ids = s32[4,128,1]{2,1,0} parameter(1)
  %rows = f32[4,128,512]{2,1,0} parameter(2)
  ROOT %sum = f32[32000,512]{1,0} scatter(%table, %ids, %rows), update_window_dims={2}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=2
}
)");
  CHECK(Letters(module, {"table", "ids", "rows", "sum"}) == "ab cd. cdb ab");
}

TEST_CASE("a large slice of a dimension is related to it, a small one is not", "[program]") {
  const HloModule module = Read(R"(HloModule m

ENTRY %main (a: f32[5,64], b: f32[5,16], c: f32[5,4]) -> f32[5,84] {
  %a = f32[5,64]{1,0} parameter(0)
  %b = f32[5,16]{1,0} parameter(1)
  %c = f32[5,4]{1,0} parameter(2)
  %eighth = f32[5,8]{1,0} slice(%a), slice={[0:5], [0:8]}
  %less = f32[5,7]{1,0} slice(%a), slice={[0:5], [0:7]}
  %one = f32[5,1]{1,0} slice(%a), slice={[0:5], [0:1]}
  ROOT %all = f32[5,84]{1,0} concatenate(%a, %b, %c), dimensions={1}
}
)");
  CHECK(Letters(module, {"a", "eighth", "less", "one"}) == "ab ab ac a.");
  CHECK(Letters(module, {"all", "a", "b", "c"}) == "ab ab ab ac");
}

TEST_CASE("dimensions are propagated through transpose, broadcast and dynamic slices", "[program]") {
  const HloModule module = Read(R"(HloModule m

ENTRY %main (a: f32[24,16], v: f32[16], i: s32[]) -> f32[16,24] {
  %a = f32[24,16]{1,0} parameter(0)
  %v = f32[16]{0} parameter(1)
  %i = s32[] parameter(2)
  %wide = f32[9,16]{1,0} broadcast(%v), dimensions={1}
  %step = f32[1,16]{1,0} dynamic-slice(%a, %i, %i), dynamic_slice_sizes={1,16}
  %put = f32[24,16]{1,0} dynamic-update-slice(%a, %step, %i, %i)
  ROOT %turned = f32[16,24]{1,0} transpose(%put), dimensions={1,0}
}
)");
  CHECK(Letters(module, {"v", "wide"}) == "a ba");
  CHECK(Letters(module, {"a", "step", "put", "turned"}) == "ab .b ab ba");
}

TEST_CASE("conditionals propagate dimensions into and out of branches", "[program]") {
  const HloModule module = Read(R"(HloModule m

%then (p: f32[8,16]) -> f32[16,8] {
  %p = f32[8,16]{1,0} parameter(0)
  ROOT %turned = f32[16,8]{1,0} transpose(%p), dimensions={1,0}
}

%else (q: f32[16,8]) -> f32[16,8] {
  %q = f32[16,8]{1,0} parameter(0)
  ROOT %same = f32[16,8]{1,0} negate(%q)
}

ENTRY %main (c: pred[], x: f32[8,16], y: f32[16,8]) -> f32[16,8] {
  %c = pred[] parameter(0)
  %x = f32[8,16]{1,0} parameter(1)
  %y = f32[16,8]{1,0} parameter(2)
  ROOT %r = f32[16,8]{1,0} conditional(%c, %x, %y), true_computation=%then, false_computation=%else
}
)");
  CHECK(Letters(module, {"x", "y", "r"}) == "ab ba ba");
}

TEST_CASE("asynchronous operations propagate dimensions from start to done", "[program]") {
  const HloModule module = Read(R"(HloModule m

%turn (p: f32[8,16]) -> f32[16,8] {
  %p = f32[8,16]{1,0} parameter(0)
  ROOT %turned = f32[16,8]{1,0} transpose(%p), dimensions={1,0}
}

ENTRY %main (x: f32[8,16]) -> f32[16,8] {
  %x = f32[8,16]{1,0} parameter(0)
  %copying = (f32[8,16]{1,0}, f32[8,16]{1,0}, u32[]) copy-start(%x)
  %copied = f32[8,16]{1,0} copy-done(%copying)
  %gathering = (f32[8,16]{1,0}, f32[32,16]{1,0}) all-gather-start(%x), dimensions={0}
  %gathered = f32[32,16]{1,0} all-gather-done(%gathering)
  %turning = ((f32[8,16]{1,0}), f32[16,8]{1,0}, u32[]) async-start(%x), calls=%turn
  ROOT %turned.1 = f32[16,8]{1,0} async-done(%turning)
}
)");
  CHECK(Letters(module, {"x", "copied", "gathered", "turned.1"}) == "ab ab ab ba");
}

TEST_CASE("a bitcast equates dimensions in memory order", "[program]") {
  const HloModule module = Read(R"(HloModule m

ENTRY %main (a: f32[8,16], x: f32[2,12,1024], y: f32[4,6,128], z: f32[3,2048]) -> f32[16,8] {
  %a = f32[8,16]{0,1} parameter(0)
  %x = f32[2,12,1024]{2,1,0:T(8,128)} parameter(1)
  %y = f32[4,6,128]{2,1,0:T(8,128)} parameter(2)
  %z = f32[3,2048]{1,0:T(1,128)} parameter(3)
  %rows = f32[24,1024]{1,0:T(8,128)} bitcast(%x)
  %narrow = f32[24,128]{1,0:T(8,128)} bitcast(%y)
  %long = f32[6144]{0:T(1024)} bitcast(%z)
  ROOT %turned = f32[16,8]{1,0} bitcast(%a)
}
)");
  CHECK(Letters(module, {"a", "turned"}) == "ab ba");
  CHECK(Letters(module, {"x", "rows"}) == "abc de");       // a tile of eight rows spans parts of twelve
  CHECK(Letters(module, {"y", "narrow"}) == "abc (ab)c");  // a tile is as wide as the array
  CHECK(Letters(module, {"z", "long"}) == "ab (ab)");
}

TEST_CASE("the batch of a dot can be the window of a convolution", "[program]") {
  const HloModule module = Read(R"(HloModule m

ENTRY %main (x: f32[4,128,64], w: f32[4,64,32]) -> f32[4,128,32] {
  %x = f32[4,128,64]{2,1,0} parameter(0)
  %w = f32[4,64,32]{2,1,0} parameter(1)
  ROOT %y = f32[4,128,32]{2,1,0} convolution(%x, %w), window={size=4}, dim_labels=0bf_0io->0bf
}
)");
  CHECK(Letters(module, {"x", "w", "y"}) == "abc acd abd");
  const Dimensions dimensions(module);
  REQUIRE(dimensions.products.size() == 1);
  const Product& product = dimensions.products[0];
  const auto groups = [&](const char* name, std::size_t dim) {
    return dimensions.GroupsOf(ArrayId{module.Find(name), 0})[dim];
  };
  CHECK(dimensions.GroupsOf(product.batch) == groups("x", 0));
  CHECK(dimensions.GroupsOf(product.left) == groups("x", 1));
  CHECK(dimensions.GroupsOf(product.contracted) == groups("x", 2));
  CHECK(dimensions.GroupsOf(product.right) == groups("w", 2));
}

TEST_CASE("damaged attributes lose only their own dimensions", "[program]") {
  const HloModule module = Read(R"(HloModule m

ENTRY %main (a: f32[8,8]) -> f32[8,8] {
  %a = f32[8,8]{1,0} parameter(0)
  %b = f32[8,8]{1,0} transpose(%a), dimensions={7,9}
  %c = f32[8,8]{1,0} dot(%a, %missing), lhs_contracting_dims={99}
  %d = f32[8,8]{1,0} broadcast(%a), dimensions={-3,1}
  %e = f32[8,8]{1,0} convolution(%a, %a), dim_labels=zz->
  %f = f32[8,8]{1,0} get-tuple-element(%a), index=5
  %g = f32[8,8]{1,0} reduce(%a), dimensions={5}, to_apply=%nowhere
  ROOT %h = f32[8,8]{1,0} add(%a, %b)
}
)");
  CHECK(Letters(module, {"a", "h"}) == "ab ab");
}

TEST_CASE("dimensions of empty arrays are propagated", "[program]") {
  const HloModule module = Read(R"(HloModule m

ENTRY %main (a: f32[0,4096], b: f32[8,16]) -> f32[8,16] {
  %a = f32[0,4096]{1,0} parameter(0)
  %b = f32[8,16]{1,0} parameter(1)
  %turned = f32[4096,0]{1,0} reshape(%a)
  %cut = f32[0,5,7]{2,1,0} reshape(%a)
  %seen = f32[7,0]{1,0} bitcast(%cut)
  ROOT %c = f32[8,16]{1,0} negate(%b)
}
)");
  CHECK(Letters(module, {"b", "c"}) == "ab ab");
}

TEST_CASE("dimension numbers that an array lacks are ignored", "[program]") {
  for (const std::string dim : {"1000000000", "-1000000000", "4294967296", "99999999999999999999", "2"}) {
    const HloModule module = Read(Numbered(R"(HloModule m

ENTRY %main (a: f32[8,16], i: s32[8,1]) -> f32[8,16] {
  %a = f32[8,16]{1,0} parameter(0)
  %i = s32[8,1]{1,0} parameter(1)
  %dot = f32[8,16]{1,0} dot(%a, %a), lhs_batch_dims={@}, rhs_batch_dims={@}, lhs_contracting_dims={@}, rhs_contracting_dims={0}
  %half = f32[8,16]{1,0} dot(%a, %a), lhs_contracting_dims={0}, rhs_contracting_dims={@}
  %broadcast = f32[8,16]{1,0} broadcast(%a), dimensions={@,1}
  %transpose = f32[8,16]{1,0} transpose(%a), dimensions={@,0}
  %reduce = f32[8]{0} reduce(%a, %a), dimensions={@}, to_apply=%nowhere
  %concatenate = f32[16,16]{1,0} concatenate(%a, %a), dimensions={@}
  %sort = f32[8,16]{1,0} sort(%a), dimensions={@}
  %gather = f32[8,16]{1,0} gather(%a, %i), offset_dims={@}, collapsed_slice_dims={@}, operand_batching_dims={@}, index_vector_dim=@, slice_sizes={@,@}
  %scatter = f32[8,16]{1,0} scatter(%a, %i, %a), update_window_dims={@}, inserted_window_dims={@}, index_vector_dim=@
  %conv = f32[8,16]{1,0} convolution(%a, %a), dim_labels=012345bf_012345io->012345bf
  %element = f32[8,16]{1,0} get-tuple-element(%a), index=@
  ROOT %b = f32[8,16]{1,0} negate(%a)
}
)",
                                           dim));
    REQUIRE(module.Find("b"));
    const Dimensions dimensions(module);
    for (const Product& product : dimensions.products) {
      for (const FactorIds* factors : {&product.batch, &product.left, &product.right, &product.contracted}) {
        for (const FactorId factor : *factors) CHECK(factor < dimensions.factors.next());
      }
    }
    CHECK(Letters(module, {"a", "b"}) == "ab ab");
  }
}

TEST_CASE("a tuple with more operands than its shape has elements ignores the excess", "[program]") {
  const HloModule module = Read(R"(HloModule m

ENTRY %main (a: f32[8], t: (f32[8], f32[16])) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %t = (f32[8]{0}, f32[16]{0}) parameter(1)
  ROOT %few = f32[8]{0} tuple(%a, )" +
                                Times("%t", 100000) +
                                R"()
}
)");
  CHECK(Letters(module, {"a", "few"}) == "a a");
}

TEST_CASE("propagation gives up if too many pairs of arrays have to be compared", "[program][slow]") {
  const std::string many = "(" + Times("f32[2]", 20000) + ")";
  const std::string begin =
      "HloModule m\n\nENTRY %main {\n  %t = " + many + " parameter(0)\n  %a = f32[2] parameter(1)\n";
  const HloModule small = Read(begin + "  ROOT %r = f32[2] negate(%a)\n}\n");
  CHECK(Dimensions(small).whole);
  for (const std::string& last : {many + " copy-done(%t)", many + " opt-barrier(" + Times("%t", 20000) + ")",
                                  many + " copy-start(" + Times("%a", 20000) + ")"}) {
    const HloModule module = Read(begin + "  ROOT %r = " + last + "\n}\n");
    const Dimensions dimensions(module);
    CHECK_FALSE(dimensions.whole);
    CHECK(dimensions.GroupsOf(ArrayId{module.Find("r"), 19999}).size() == 1);
  }
}

TEST_CASE("propagation gives up if loops visit the same computations too often", "[program][slow]") {
  std::string text =
      "HloModule m\n\n%c {\n  %n = s32[] constant(24)\n  ROOT %lt = pred[] compare(%n, %n), direction=LT\n}\n";
  std::string calls;
  for (int i = 0; i < 3000; ++i) {
    const std::string number = std::to_string(i);
    text += "%f" + number + " {\n  ROOT %p" + number + " = f32[64] parameter(0)\n}\n";
    calls += (i == 0 ? "%f" : ", %f") + number;
  }
  text += "%b {\n  %x = f32[64] parameter(0)\n  ROOT %y = f32[64] fusion(%x), calls={" + calls + "}\n}\n";
  text += "ENTRY %main {\n  %a = f32[64] parameter(0)\n";
  for (int i = 0; i < 2000; ++i) text += "  %w" + std::to_string(i) + " = f32[64] while(%a), condition=%c, body=%b\n";
  const HloModule module = Read(text + "}\n");
  CHECK_FALSE(Dimensions(module).whole);
}

}  // namespace TEST_FILE
