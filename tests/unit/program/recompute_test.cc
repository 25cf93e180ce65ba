// Rematerializing the layers of a hand-written training step.
#include <string>

#include "catch.h"
#include "made_program.h"
#include "program/remedies.h"

using namespace whyoom;

namespace TEST_FILE {

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;

// 24 layers, each x -> h -> x. The forward loop saves x (3 MiB) and h (12 MiB) of all layers; the backward loop reads
// h.
const char* const kModule = R"(%take (t: f32[24,512,256], n: s32[]) -> f32[512,256] {
  %t = f32[24,512,256]{2,1,0} parameter(0)
  %n = s32[] parameter(1)
  %none = s32[] constant(0)
  %step = f32[1,512,256]{2,1,0} dynamic-slice(%t, %n, %none, %none), dynamic_slice_sizes={1,512,256}
  ROOT %taken = f32[512,256]{1,0} bitcast(%step)
}

%forward (a: (s32[], f32[512,64], f32[24,512,64], f32[24,512,256], f32[24,64,256], f32[512,32])) -> (s32[], f32[512,64], f32[24,512,64], f32[24,512,256], f32[24,64,256], f32[512,32]) {
  %a = (s32[], f32[512,64]{1,0}, f32[24,512,64]{2,1,0}, f32[24,512,256]{2,1,0}, f32[24,64,256]{2,1,0}, f32[512,32]{1,0}) parameter(0)
  %i = s32[] get-tuple-element(%a), index=0
  %x = f32[512,64]{1,0} get-tuple-element(%a), index=1
  %xs = f32[24,512,64]{2,1,0} get-tuple-element(%a), index=2
  %hs = f32[24,512,256]{2,1,0} get-tuple-element(%a), index=3
  %ws = f32[24,64,256]{2,1,0} get-tuple-element(%a), index=4
  %m = f32[512,32]{1,0} get-tuple-element(%a), index=5
  %zero = s32[] constant(0)
  %one = s32[] constant(1)
  %x1 = f32[1,512,64]{2,1,0} bitcast(%x)
  %xs.1 = f32[24,512,64]{2,1,0} dynamic-update-slice(%xs, %x1, %i, %zero, %zero)
  %w1 = f32[1,64,256]{2,1,0} dynamic-slice(%ws, %i, %zero, %zero), dynamic_slice_sizes={1,64,256}
  %w = f32[64,256]{1,0} bitcast(%w1)
  %h = f32[512,256]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(step)/jvp(net)/dot"}
  %h1 = f32[1,512,256]{2,1,0} bitcast(%h)
  %hs.1 = f32[24,512,256]{2,1,0} dynamic-update-slice(%hs, %h1, %i, %zero, %zero)
  %y = f32[512,64]{1,0} dot(%h, %w), lhs_contracting_dims={1}, rhs_contracting_dims={1}, metadata={op_name="jit(step)/jvp(net)/dot"}
  %i.1 = s32[] add(%i, %one)
  ROOT %next = (s32[], f32[512,64]{1,0}, f32[24,512,64]{2,1,0}, f32[24,512,256]{2,1,0}, f32[24,64,256]{2,1,0}, f32[512,32]{1,0}) tuple(%i.1, %y, %xs.1, %hs.1, %ws, %m)
}

%backward (b: (s32[], f32[512,64], f32[24,512,64], f32[24,512,256], f32[24,64,256], f32[512,32])) -> (s32[], f32[512,64], f32[24,512,64], f32[24,512,256], f32[24,64,256], f32[512,32]) {
  %b = (s32[], f32[512,64]{1,0}, f32[24,512,64]{2,1,0}, f32[24,512,256]{2,1,0}, f32[24,64,256]{2,1,0}, f32[512,32]{1,0}) parameter(0)
  %j = s32[] get-tuple-element(%b), index=0
  %d = f32[512,64]{1,0} get-tuple-element(%b), index=1
  %bxs = f32[24,512,64]{2,1,0} get-tuple-element(%b), index=2
  %bhs = f32[24,512,256]{2,1,0} get-tuple-element(%b), index=3
  %gs = f32[24,64,256]{2,1,0} get-tuple-element(%b), index=4
  %bm = f32[512,32]{1,0} get-tuple-element(%b), index=5
  %zero.2 = s32[] constant(0)
  %one.2 = s32[] constant(1)
  %bh = f32[512,256]{1,0} fusion(%bhs, %j), kind=kLoop, calls=%take
  %g = f32[64,256]{1,0} dot(%d, %bh), lhs_contracting_dims={0}, rhs_contracting_dims={0}, metadata={op_name="jit(step)/transpose(jvp(net))/dot"}
  %g1 = f32[1,64,256]{2,1,0} bitcast(%g)
  %gs.1 = f32[24,64,256]{2,1,0} dynamic-update-slice(%gs, %g1, %j, %zero.2, %zero.2)
  %j.1 = s32[] add(%j, %one.2)
  ROOT %bnext = (s32[], f32[512,64]{1,0}, f32[24,512,64]{2,1,0}, f32[24,512,256]{2,1,0}, f32[24,64,256]{2,1,0}, f32[512,32]{1,0}) tuple(%j.1, %d, %bxs, %bhs, %gs.1, %bm)
}

%until (u: (s32[], f32[512,64], f32[24,512,64], f32[24,512,256], f32[24,64,256], f32[512,32])) -> pred[] {
  %u = (s32[], f32[512,64]{1,0}, f32[24,512,64]{2,1,0}, f32[24,512,256]{2,1,0}, f32[24,64,256]{2,1,0}, f32[512,32]{1,0}) parameter(0)
  %k = s32[] get-tuple-element(%u), index=0
  %all = s32[] constant(24)
  ROOT %less = pred[] compare(%k, %all), direction=LT
}

ENTRY %main {
  %w0 = f32[24,64,256]{2,1,0} parameter(0), metadata={op_name="params[\'w\']"}
  %x0 = f32[512,64]{1,0} parameter(1), metadata={op_name="batch[\'x\']"}
  %m0 = f32[512,32]{1,0} parameter(2)
  %begin = s32[] constant(0)
  %room.1 = f32[24,512,64]{2,1,0} custom-call(), custom_call_target="AllocateBuffer"
  %room.2 = f32[24,512,256]{2,1,0} custom-call(), custom_call_target="AllocateBuffer"
  %room.3 = f32[24,64,256]{2,1,0} custom-call(), custom_call_target="AllocateBuffer"
  %start = (s32[], f32[512,64]{1,0}, f32[24,512,64]{2,1,0}, f32[24,512,256]{2,1,0}, f32[24,64,256]{2,1,0}, f32[512,32]{1,0}) tuple(%begin, %x0, %room.1, %room.2, %w0, %m0)
  %loop = (s32[], f32[512,64]{1,0}, f32[24,512,64]{2,1,0}, f32[24,512,256]{2,1,0}, f32[24,64,256]{2,1,0}, f32[512,32]{1,0}) while(%start), condition=%until, body=%forward, metadata={op_name="jit(step)/jvp(net)/while"}
  %last = f32[512,64]{1,0} get-tuple-element(%loop), index=1
  %kept.1 = f32[24,512,64]{2,1,0} get-tuple-element(%loop), index=2
  %kept.2 = f32[24,512,256]{2,1,0} get-tuple-element(%loop), index=3
  %back = (s32[], f32[512,64]{1,0}, f32[24,512,64]{2,1,0}, f32[24,512,256]{2,1,0}, f32[24,64,256]{2,1,0}, f32[512,32]{1,0}) tuple(%begin, %last, %kept.1, %kept.2, %room.3, %m0)
  %unloop = (s32[], f32[512,64]{1,0}, f32[24,512,64]{2,1,0}, f32[24,512,256]{2,1,0}, f32[24,64,256]{2,1,0}, f32[512,32]{1,0}) while(%back), condition=%until, body=%backward, metadata={op_name="jit(step)/transpose(jvp(net))/while"}
  ROOT %grads = f32[24,64,256]{2,1,0} get-tuple-element(%unloop), index=4
}
)";

const char* const kAssignment =
    "BufferAssignment:\n"
    "allocation 0: size 1572864, page 0, parameter 0, shape |f32[24,64,256]| at ShapeIndex {}:\n"
    " value: <1 w0 @0> (size=1572864,offset=0): f32[24,64,256]{2,1,0}\n"
    "allocation 1: size 131072, page 0, parameter 1, shape |f32[512,64]| at ShapeIndex {}:\n"
    " value: <2 x0 @0> (size=131072,offset=0): f32[512,64]{1,0}\n"
    "allocation 2: size 65536, page 0, parameter 2, shape |f32[512,32]| at ShapeIndex {}:\n"
    " value: <9 m0 @0> (size=65536,offset=0): f32[512,32]{1,0}\n"
    "allocation 3: size 16777216, page 0, preallocated-temp:\n"
    " value: <3 loop{2} @0> (size=3145728,offset=0): f32[24,512,64]{2,1,0}\n"
    " value: <4 loop{3} @0> (size=12582912,offset=3145728): f32[24,512,256]{2,1,0}\n"
    " value: <5 h @0> (size=524288,offset=15728640): f32[512,256]{1,0}\n"
    " value: <6 y @0> (size=131072,offset=16252928): f32[512,64]{1,0}\n"
    " value: <7 bh @0> (size=524288,offset=15728640): f32[512,256]{1,0}\n";

const char* const kRanges =
    "HloLiveRange (max 99):\n  InstructionSequence:\n  BufferLiveRange:\n"
    "    w0{}:0-99\n    x0{}:0-99\n    m0{}:0-99\n    loop{2}:5-60\n    loop{3}:5-60\n    h{}:20-30\n    y{}:25-32\n   "
    " bh{}:45-50\n";

TEST_CASE("a loop still saves the layers' inputs, and one layer is rematerialized at a time", "[program]") {
  const MadeProgram made(kModule, kAssignment, kRanges);
  REQUIRE(made.semantics.trains);
  REQUIRE(made.program.dimensions.loops.size() == 2);
  CHECK(made.simulator.need_bytes == 17 * kMiB + 704 * kKiB);
  // The arguments, x of all layers, and h and y of one layer in the forward pass. The backward pass needs less: one
  // rematerialized h. The unused part of the temporaries shrinks with them.
  constexpr std::int64_t kArguments = 1536 * kKiB + 128 * kKiB + 64 * kKiB;
  constexpr std::int64_t kIdle = 384 * kKiB;
  constexpr std::int64_t kLeft = 3 * kMiB + 512 * kKiB + 128 * kKiB;
  CHECK(made.Left(Recompute(made.simulator)) == kArguments + kLeft + kIdle * kLeft / (16 * kMiB - kIdle));
}

}  // namespace TEST_FILE
