// Roles of parameters, names of dimensions and kinds of values in hand-written programs.
#include "program/semantics.h"

#include <algorithm>
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "made_program.h"
#include "program/remedies.h"

using namespace whyoom;

namespace TEST_FILE {

RoleWords Words() {
  RoleWords words;
  words.optimizer_state = {"mu"};
  words.weights = {"params"};
  words.cache = {"cache"};
  words.inputs = {"batch"};
  return words;
}

// A linear layer: 64 examples with 2048 input and 8192 output features. If `trains`, includes the backward pass.
std::string Layer(bool trains) {
  return std::string(R"(ENTRY %main {
  %w = f32[2048,8192]{1,0} parameter(0), metadata={op_name="params[\'w\']"}
  %m = f32[2048,8192]{1,0} parameter(1), metadata={op_name="mu[\'w\']"}
  %x = f32[64,2048]{1,0} parameter(2), metadata={op_name="batch[\'x\']"}
  %n = s32[] parameter(3), metadata={op_name="step"}
  %s = f32[] parameter(4), metadata={op_name="scale"}
  %y = f32[64,8192]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/jvp(net)/dot"}
)") + (trains
           ? R"(  ROOT %g = f32[2048,8192]{1,0} dot(%x, %y), lhs_contracting_dims={0}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/transpose(jvp(net))/dot"}
}
)"
           : R"(  ROOT %z = f32[64,8192]{1,0} add(%y, %y), metadata={op_name="jit(f)/add"}
}
)");
}

// A weight computes 16 numbers per example. Their maximum is taken, and they are multiplied with another weight.
std::string Softmax(const std::string& other_weight, const std::string& product) {
  return R"(%max {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] maximum(%a, %b)
}

ENTRY %main {
  %w = f32[2048,16]{1,0} parameter(0), metadata={op_name="params[\'w\']"}
  %e = )" +
         other_weight +
         R"( parameter(1), metadata={op_name="params[\'e\']"}
  %x = f32[64,2048]{1,0} parameter(2), metadata={op_name="batch[\'x\']"}
  %i = f32[] constant(-inf)
  %y = f32[64,16]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %p = )" +
         product + R"( dot(%y, %e), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %m = f32[64]{0} reduce(%y, %i), dimensions={1}, to_apply=%max
}
)";
}

const char* const kAssignment =
    "BufferAssignment:\n"
    "allocation 0: size 67108864, page 0, parameter 0, shape |f32[2048,8192]| at ShapeIndex {}:\n"
    " value: <1 w @0> (size=67108864,offset=0): f32[2048,8192]{1,0}\n"
    "allocation 1: size 67108864, page 0, parameter 1, shape |f32[2048,8192]| at ShapeIndex {}:\n"
    " value: <2 m @0> (size=67108864,offset=0): f32[2048,8192]{1,0}\n"
    "allocation 2: size 524288, page 0, parameter 2, shape |f32[64,2048]| at ShapeIndex {}:\n"
    " value: <3 x @0> (size=524288,offset=0): f32[64,2048]{1,0}\n"
    "allocation 3: size 69206016, page 0, preallocated-temp:\n"
    " value: <4 y @0> (size=2097152,offset=0): f32[64,8192]{1,0}\n";

std::string WithGradient() {
  return std::string(kAssignment) + " value: <5 g @0> (size=67108864,offset=2097152): f32[2048,8192]{1,0}\n";
}

ValueKind KindOf(const Program& program, const Semantics& semantics, const std::string& name) {
  const InstructionId instruction = program.module.Find(name);
  REQUIRE(instruction);
  REQUIRE(program.values_of[instruction].size() == 1);
  return semantics.KindOf(program.values_of[instruction][0]);
}

const GroupId a(1), b(2), c(3);

TEST_CASE("a dimension contains groups only consecutively and in order", "[program]") {
  CHECK(Contains({a}, {a}));
  CHECK(Contains({a, b}, {a, b}));
  CHECK(Contains({c, a, b, c}, {a, b}));
  CHECK_FALSE(Contains({b, a}, {a, b}));
  CHECK_FALSE(Contains({a}, {a, b}));
  CHECK_FALSE(Contains({}, {a}));
}

TEST_CASE("the dimensions of an axis contain all of it, or its longest part", "[program]") {
  const Axis one = {{a}, 8, a};
  const Axis two = {{a, b}, 64, b};
  CHECK(DimensionsWith({{a}}, Axis()) == 0);
  CHECK(DimensionsWith({}, one) == 0);
  CHECK(DimensionsWith({{}, {c}}, one) == 0);
  CHECK(DimensionsWith({{a}, {c}}, one) == 1);
  CHECK(DimensionsWith({{a}, {c}, {a}}, one) == 0b101);
  CHECK(DimensionsWith({{a, b}, {c}}, two) == 1);
  CHECK(DimensionsWith({{a}, {b}}, two) == 0b10);     // spread over two dimensions: only the longest counts
  CHECK(DimensionsWith({{a, b}, {a}}, two) == 1);     // the first group does not count beside the whole axis
  CHECK(DimensionsWith({{a, b}, {b}}, two) == 0b11);  // local queries and gathered keys
  CHECK(DimensionsWith({{c}, {b}}, two) == 0b10);     // half of the axis
  CHECK_FALSE(Axis());
  CHECK(one);
}

TEST_CASE("roles of parameters follow from their names", "[program]") {
  const Program program = MakeProgram(Layer(true), WithGradient());
  const Semantics semantics = FindSemantics(program, Words());
  REQUIRE(program.parameters.size() == 5);
  CHECK(semantics.RoleOf(program.parameters[0]) == Role::kWeights);
  CHECK(semantics.RoleOf(program.parameters[1]) == Role::kOptimizerState);
  CHECK(semantics.RoleOf(program.parameters[2]) == Role::kInput);
}

TEST_CASE("a program with a backward pass trains", "[program]") {
  const Program program = MakeProgram(Layer(true), WithGradient());
  const Semantics semantics = FindSemantics(program, Words());
  CHECK(semantics.trains);
  CHECK(semantics.has_examples());
  const InstructionId forward = program.module.Find("y");
  const InstructionId backward = program.module.Find("g");
  CHECK(semantics.IsForward(forward));
  CHECK_FALSE(semantics.IsBackward(forward));
  CHECK(semantics.IsBackward(backward));
  CHECK_FALSE(semantics.IsForward(backward));
  CHECK_FALSE(semantics.IsForward(program.module.Find("w")));
}

TEST_CASE("values of the same shape, size and dimensions are one class", "[program]") {
  const Program program = MakeProgram(Layer(true), WithGradient());
  const Semantics semantics = FindSemantics(program, Words());
  const auto class_of = [&](const char* name) {
    return semantics.class_of[program.values_of[program.module.Find(name)].at(0)];
  };
  CHECK(class_of("g") == class_of("w"));  // the gradient has the weight's dimensions
  CHECK(class_of("m") != class_of("w"));  // nothing relates their dimensions
  CHECK(semantics.classes[class_of("w")].count == 2);
  CHECK(semantics.classes[class_of("w")].size == 67108864);
  std::size_t values = 0;
  for (const ValueClass& arrays : semantics.classes) values += static_cast<std::size_t>(arrays.count);
  CHECK(values == program.values.size());
}

TEST_CASE("a program without a backward pass has examples if it has weights", "[program]") {
  const Program program = MakeProgram(Layer(false), kAssignment);
  CHECK_FALSE(FindSemantics(program, Words()).trains);
  CHECK(FindSemantics(program, Words()).has_examples());
  CHECK_FALSE(FindSemantics(program, RoleWords()).has_examples());
}

TEST_CASE("the batch is the leading dimension of the input and not of a weight", "[program]") {
  const Program program = MakeProgram(Layer(true), WithGradient());
  const Semantics semantics = FindSemantics(program, Words());
  REQUIRE(semantics.batch);
  CHECK(semantics.batch.size == 64);
  const auto of = [&](const char* name) { return program.values_of[program.module.Find(name)][0]; };
  CHECK(semantics.Has(of("x"), semantics.batch));
  CHECK(semantics.Has(of("y"), semantics.batch));
  CHECK_FALSE(semantics.Has(of("w"), semantics.batch));
  CHECK_FALSE(semantics.Has(of("g"), semantics.batch));
  CHECK_FALSE(semantics.Has(of("x"), Axis()));
  CHECK(semantics.GroupsOf(of("y")) == program.dimensions.GroupsOf(ArrayId{program.module.Find("y"), 0}));
  CHECK(semantics.GroupsOf(of("y"))[0] == semantics.GroupsOf(of("x"))[0]);
  CHECK(semantics.GroupsOf(of("y"))[1] == semantics.GroupsOf(of("w"))[1]);
  CHECK_FALSE(semantics.sequence);
  CHECK_FALSE(semantics.vocabulary);
  CHECK_FALSE(semantics.has_attention());
}

TEST_CASE("values have kinds according to their use", "[program]") {
  const Program program = MakeProgram(Layer(true), WithGradient());
  const Semantics semantics = FindSemantics(program, Words());
  CHECK(KindOf(program, semantics, "w") == ValueKind::kWeights);
  CHECK(KindOf(program, semantics, "m") == ValueKind::kOptimizerState);
  CHECK(KindOf(program, semantics, "x") == ValueKind::kInputs);
  CHECK(KindOf(program, semantics, "y") == ValueKind::kActivations);
  CHECK(KindOf(program, semantics, "g") == ValueKind::kGradients);
}

TEST_CASE("without a backward pass there are no activations", "[program]") {
  const Program program = MakeProgram(Layer(false), kAssignment);
  CHECK(KindOf(program, FindSemantics(program, Words()), "y") == ValueKind::kTemporaries);
}

TEST_CASE("the vocabulary is the dimension of a softmax, but not the experts of a router", "[program]") {
  const Program classes = MakeProgram(Softmax("f32[16,2048]{1,0}", "f32[64,2048]{1,0}"));
  CHECK(FindSemantics(classes, Words()).vocabulary.size == 16);
  const Program experts = MakeProgram(Softmax("f32[16,2048,128]{2,1,0}", "f32[64,2048,128]{2,1,0}"));
  CHECK_FALSE(FindSemantics(experts, Words()).vocabulary);
}

// A product of two arrays of the same 64 examples: 512 positions by 256 positions, with 8 heads, contracting 16
// features. `after` contains the instructions that use it.
std::string Pairs(const std::string& scope, const std::string& after) {
  return R"(%max {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] maximum(%a, %b)
}

ENTRY %main {
  %w = f32[2048,8,16]{2,1,0} parameter(0), metadata={op_name="params[\'w\']"}
  %x = f32[64,512,2048]{2,1,0} parameter(1), metadata={op_name="batch[\'x\']"}
  %y = f32[64,256,2048]{2,1,0} parameter(2), metadata={op_name="batch[\'y\']"}
  %i = f32[] constant(-inf)
  %q = f32[64,512,8,16]{3,2,1,0} dot(%x, %w), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  %k = f32[64,256,8,16]{3,2,1,0} dot(%y, %w), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  %p = f32[64,8,512,256]{3,2,1,0} dot(%q, %k), lhs_batch_dims={0,2}, rhs_batch_dims={0,2}, lhs_contracting_dims={3}, rhs_contracting_dims={3}, metadata={op_name=")" +
         scope + "\"}\n" + after + "}\n";
}

TEST_CASE("learned positions are no vocabulary, although a softmax reduces the keys of attention", "[program]") {
  const Program program = MakeProgram(R"(%max {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] maximum(%a, %b)
}

ENTRY %main {
  %w = f32[256,512]{1,0} parameter(0), metadata={op_name="params[\'positions\']"}
  %x = f32[64,256,512]{2,1,0} parameter(1), metadata={op_name="batch[\'x\']"}
  %p = f32[64,256,512]{2,1,0} broadcast(%w), dimensions={1,2}
  %h = f32[64,256,512]{2,1,0} add(%x, %p)
  %y = f32[64,256,256]{2,1,0} dot(%h, %h), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
  %i = f32[] constant(-inf)
  ROOT %m = f32[64,256]{1,0} reduce(%y, %i), dimensions={2}, to_apply=%max
}
)");
  CHECK(FindSemantics(program, Words()).vocabulary.size == 0);
}

TEST_CASE("a pairwise product is attention scores only with a softmax or an attention scope", "[program]") {
  const std::string used = "  ROOT %z = f32[64,8,512,256]{3,2,1,0} add(%p, %p)\n";
  const std::string softmax = "  ROOT %m = f32[64,8,512]{2,1,0} reduce(%p, %i), dimensions={3}, to_apply=%max\n";
  // The dispatch of tokens to experts is not attention.
  CHECK_FALSE(FindSemantics(MakeProgram(Pairs("jit(f)/dispatch/dot_general", used)), Words()).has_attention());
  CHECK(FindSemantics(MakeProgram(Pairs("jit(f)/dot_general", softmax)), Words()).has_attention());
  CHECK(FindSemantics(MakeProgram(Pairs("jit(f)/self_attention/dot_general", used)), Words()).has_attention());
  CHECK(FindSemantics(MakeProgram(Pairs("jit(f)/bqhd,bkhd->bhqk/dot_general", used)), Words()).has_attention());
  // A mask has the positions twice, and no features, unlike a representation of pairs.
  const std::string mask =
      "  %o = f32[512,512]{1,0} parameter(7), metadata={op_name=\"bias\"}\n  %u = f32[512,512]{1,0} transpose(%o), "
      "dimensions={1,0}\n  %v = f32[512,512]{1,0} add(%o, %u)\n";
  CHECK(FindSemantics(MakeProgram(Pairs("jit(f)/dot_general", mask + softmax)), Words()).has_attention());
}

TEST_CASE("weights are gathered only if an all-gather computed them", "[program]") {
  const Program program = MakeProgram(
      R"(ENTRY %main {
  %w = f32[2048,2048]{1,0} parameter(0), sharding={devices=[4,1]<=[4]}, metadata={op_name="params[\'w\']"}
  %x = f32[64,2048]{1,0} parameter(1), metadata={op_name="batch[\'x\']"}
  %g = f32[8192,2048]{1,0} all-gather(%w), dimensions={0}
  %b = bf16[8192,2048]{1,0} convert(%g)
  %t = f32[2048,2048]{1,0} add(%w, %w)
  ROOT %y = f32[64,2048]{1,0} dot(%x, %t), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)",
      "BufferAssignment:\n"
      "allocation 0: size 117440512, page 0, preallocated-temp:\n"
      " value: <1 g @0> (size=67108864,offset=0): f32[8192,2048]{1,0}\n"
      " value: <2 b @0> (size=33554432,offset=67108864): bf16[8192,2048]{1,0}\n"
      " value: <3 t @0> (size=16777216,offset=100663296): f32[2048,2048]{1,0}\n",
      "", ", num_partitions=4");
  const Semantics semantics = FindSemantics(program, Words());
  CHECK(KindOf(program, semantics, "g") == ValueKind::kGatheredWeights);
  CHECK(KindOf(program, semantics, "b") == ValueKind::kTemporaries);  // a cast of g
  CHECK(KindOf(program, semantics, "t") == ValueKind::kTemporaries);  // has a weight's shape, but is computed locally
}

// Tokens are assigned to 96 slots of 8 experts: a one-hot comparison with indices, or with a number.
std::string Dispatch(const std::string& compared) {
  return R"(ENTRY %main {
  %w = f32[2048,8]{1,0} parameter(0), metadata={op_name="params[\'w\']"}
  %x = f32[640,2048]{1,0} parameter(1), metadata={op_name="batch[\'x\']"}
  %s = s32[640]{0} parameter(2), metadata={op_name="batch[\'slot\']"}
  %n = s32[] constant(3)
  %i = s32[640,96]{1,0} )" +
         compared + R"(
  %b = s32[640,96]{1,0} broadcast(%s), dimensions={0}
  %p = pred[640,96]{1,0} compare(%b, %i), direction=EQ
  %c = f32[640,96]{1,0} convert(%p)
  %r = f32[640,8]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %m = f32[640,8,96]{2,1,0} dot(%r, %c), lhs_batch_dims={0}, rhs_batch_dims={0}
}
)";
}

TEST_CASE("the slots of experts grow with the number of tokens", "[program]") {
  const std::string assignment =
      "BufferAssignment:\n"
      "allocation 0: size 1966080, page 0, preallocated-temp:\n"
      " value: <1 m @0> (size=1966080,offset=0): f32[640,8,96]{2,1,0}\n";
  const Program one_hot = MakeProgram(Dispatch("iota(), iota_dimension=1"), assignment);
  const Semantics semantics = FindSemantics(one_hot, Words());
  const ValueId masks = one_hot.values_of[one_hot.module.Find("m")][0];
  CHECK(semantics.batch.size == 640);
  CHECK(semantics.DimensionsOf(masks, semantics.batch) == 0b101);
  CHECK_FALSE(semantics.Has(masks, Axis()));
  // A comparison with a number is no assignment: 96 may be the number of beams.
  const Program beams = MakeProgram(Dispatch("broadcast(%n), dimensions={}"), assignment);
  const Semantics other = FindSemantics(beams, Words());
  const ValueId found = beams.values_of[beams.module.Find("m")][0];
  CHECK(other.DimensionsOf(found, other.batch) == 1);
}

TEST_CASE("quantized arrays of the parameters are weights", "[program]") {
  const Program program = MakeProgram(R"(ENTRY %main {
  %q = s8[24,2048,2048]{2,1,0} parameter(0), metadata={op_name="params[\'w\'].q"}
  %i = s32[24,2048]{1,0} parameter(1), metadata={op_name="params[\'ids\']"}
  %w = f32[2048,2048]{1,0} parameter(2), metadata={op_name="params[\'up\']"}
  ROOT %g = f32[2048,2048]{1,0} add(%w, %w), metadata={op_name="jit(f)/transpose(jvp(net))/add"}
}
)");
  const Semantics semantics = FindSemantics(program, Words());
  CHECK(semantics.RoleOf(program.parameters[0]) == Role::kWeights);
  CHECK(semantics.RoleOf(program.parameters[1]) == Role::kInput);
}

TEST_CASE("whole optimizer state belongs to the weights that are split", "[program]") {
  const Program program = MakeProgram(
      R"(ENTRY %main {
  %w = f32[512,2048]{1,0} parameter(0), sharding={devices=[4,1]<=[4]}, metadata={op_name="params[\'w\']"}
  %m = f32[2048,2048]{1,0} parameter(1), sharding={replicated}, metadata={op_name="mu[\'w\']"}
  %n = f32[2048,1024]{1,0} parameter(2), sharding={replicated}, metadata={op_name="mu[\'x\']"}
  ROOT %g = f32[512,2048]{1,0} add(%w, %w), metadata={op_name="jit(f)/transpose(jvp(net))/add"}
}
)",
      "", "", ", num_partitions=4");
  const Semantics semantics = FindSemantics(program, Words());
  CHECK(semantics.RoleOf(program.parameters[1]) == Role::kOptimizerState);
  CHECK(semantics.RoleOf(program.parameters[2]) == Role::kOther);  // no weight has its shape
}

TEST_CASE("a side along which values are shifted is not a batch", "[program]") {
  const auto batch = [](const std::string& length) {
    const std::string rest = std::to_string(64 - std::stoi(length));
    const Program program =
        MakeProgram("ENTRY %main {\n  %s = f32[64,8192]{1,0} parameter(0), metadata={op_name=\"s\"}\n  %a = f32[" +
                    length + ",8192]{1,0} slice(%s), slice={[0:" + length + "], [0:8192]}\n  %b = f32[" + rest +
                    ",8192]{1,0} slice(%s), slice={[" + length +
                    ":64], [0:8192]}\n  ROOT %r = f32[64,8192]{1,0} concatenate(%b, %a), dimensions={0}\n}\n");
    return FindSemantics(program, Words()).batch.size;
  };
  CHECK(batch("32") == 64);  // halves of a batch
  CHECK(batch("63") == 0);   // each row is combined with its neighbour
}

// A loop that reads one part of an array in each of 24 steps.
const std::string kLoop = R"(%body {
  %a = (s32[], f32[24,64]{1,0}) parameter(0)
  %j = s32[] get-tuple-element(%a), index=0
  %s = f32[24,64]{1,0} get-tuple-element(%a), index=1
  %o = s32[] constant(1)
  %l = f32[1,64]{1,0} dynamic-slice(%s, %j, %o), dynamic_slice_sizes={1,64}
  %k = s32[] add(%j, %o)
  ROOT %b = (s32[], f32[24,64]{1,0}) tuple(%k, %s)
}

%cond {
  %c = (s32[], f32[24,64]{1,0}) parameter(0)
  %m = s32[] get-tuple-element(%c), index=0
  %n = s32[] constant(24)
  ROOT %lt = pred[] compare(%m, %n), direction=LT
}

)";

TEST_CASE("an axis that is counted, looked up, sliced or twice in an input is no batch", "[program]") {
  const auto batch = [](const std::string& body, const std::string& others = "", const char* shape = "64,64,512") {
    const Program program = MakeProgram(others + "ENTRY %main {\n  %x = f32[" + shape +
                                        "] parameter(0), metadata={op_name=\"batch[\\'x\\']\"}\n  %i = s32[8,1]{1,0} "
                                        "constant({...})\n  %z = s32[] constant(0)\n" +
                                        body + "}\n");
    return FindSemantics(program, Words()).batch.size;
  };
  CHECK(batch("  ROOT %r = f32[64,64,512] negate(%x)\n") == 64);
  const std::string rows = "  ROOT %r = f32[8,64,512] gather(%x, %i), offset_dims={1,2}, slice_sizes={1,64,512}, ";
  CHECK(batch(rows + "collapsed_slice_dims={0}, start_index_map={0}\n") == 0);  // a data set, or pages of a cache
  // In a vmap, the first index counts the examples.
  CHECK(batch("  %p = s32[64,2]{1,0} constant({...})\n  ROOT %r = f32[64,512] gather(%x, %p), offset_dims={1}, "
              "slice_sizes={1,1,512}, collapsed_slice_dims={0,1}, start_index_map={0,1}\n") == 64);
  const auto slice = [](const std::string& op) {
    return "  ROOT %r = f32[8,64,512] dynamic-slice(%x, %z, %z, %z), dynamic_slice_sizes={8,64,512}, "
           "metadata={op_name=\"jit(f)/" +
           op + "\"}\n";
  };
  CHECK(batch(slice("dynamic_slice")) == 0);  // a data set in device memory
  CHECK(batch(slice("mul")) == 64);           // the partitioner takes each device's part of a batch
  // Pairs of residues: the program adds the array and its transpose.
  CHECK(batch("  %t = f32[64,64,512] transpose(%x), dimensions={1,0,2}\n  ROOT %r = f32[64,64,512] add(%x, %t)\n") ==
        0);
  const auto layers = [](const std::string& op) {
    return "  %t = (s32[], f32[24,64]{1,0}) tuple(%z, %x)\n  ROOT %w = (s32[], f32[24,64]{1,0}) while(%t), "
           "condition=%cond, body=%body, metadata={op_name=\"jit(f)/" +
           op + "\"}\n";
  };
  CHECK(batch(layers("while"), kLoop, "24,64") == 0);    // layers of a cache
  CHECK(batch(layers("gather"), kLoop, "24,64") == 24);  // the compiler's loop over the examples of a gather
}

TEST_CASE("a loop counts the positions of a recurrent network, but the layers of a cache", "[program]") {
  const auto sequence = [](const std::string& name) {
    const Program program = MakeProgram(
        kLoop + "ENTRY %main {\n  %x = f32[24,64]{1,0} parameter(0), metadata={op_name=\"" + name +
            "\"}\n  %w = f32[64,8]{1,0} parameter(1), metadata={op_name=\"params[\\'w\\']\"}\n  %y = f32[24,8]{1,0} "
            "dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n  %z = s32[] constant(0)\n  %t = (s32[], "
            "f32[24,64]{1,0}) tuple(%z, %x)\n  ROOT %l = (s32[], f32[24,64]{1,0}) while(%t), condition=%cond, "
            "body=%body, metadata={op_name=\"jit(f)/while\"}\n}\n",
        "BufferAssignment:\nallocation 0: size 8388608, page 0, parameter 0, shape |f32[24,64]| at ShapeIndex {}:\n"
        " value: <1 x @0> (size=8388608,offset=0): f32[24,64]{1,0}\n");
    return FindSemantics(program, Words()).sequence.size;
  };
  CHECK(sequence("batch") == 24);
  CHECK(sequence("cache") == 0);
}

TEST_CASE("an input that the examples share has no sequence", "[program]") {
  const auto sequence = [](const std::string& cache) {
    const std::string x = "f32[64,32,512]{2,1,0}";
    const Program program = MakeProgram(
        "ENTRY %main {\n  %t = s32[64,32]{1,0} parameter(0), metadata={op_name=\"batch\"}\n  %c = bf16[" + cache +
            "] parameter(1), metadata={op_name=\"cache[\\'k\\']\"}\n  %x = " + x +
            " broadcast(%t), dimensions={0,1}\n  %r = bf16[" + cache + "] negate(%c)\n  ROOT %o = (" + x + ", bf16[" +
            cache + "]) tuple(%x, %r)\n}\n",
        "BufferAssignment:\nallocation 0: size 8388608, page 0, parameter 1, shape |bf16[" + cache +
            "]| at ShapeIndex {}:\n value: <1 c @0> (size=8388608,offset=0): bf16[" + cache +
            "]\nallocation 1: size 4194304, page 0, preallocated-temp:\n value: <2 x @0> (size=4194304,offset=0): " +
            x + "\n");
    return FindSemantics(program, Words()).sequence.size;
  };
  CHECK(sequence("64,512,128") == 512);  // positions of each example
  CHECK(sequence("16,2048,128") == 32);  // pages for all examples: only the tokens have a sequence
}

TEST_CASE("the name of a tree of arrays decides nothing about them", "[program]") {
  const auto role = [](const std::string& path, const std::string& other) {
    const Program program = MakeProgram("ENTRY %main {\n  %x = f32[64,512]{1,0} parameter(0), metadata={op_name=\"" +
                                        path + "\"}\n  %o = f32[64,512]{1,0} parameter(1), metadata={op_name=\"" +
                                        other + "\"}\n  ROOT %r = f32[64,512]{1,0} add(%x, %o)\n}\n");
    return FindSemantics(program, Words()).RoleOf(program.parameters[0]);
  };
  CHECK(role("batch", "step") == Role::kInput);
  CHECK(role(R"(batch[\'norm\'])", R"(batch[\'layers\'][\'up\'])") == Role::kOther);  // a second model
  CHECK(role(R"(mu[\'x\'])", "batch") == Role::kOther);                               // no weight has its shape
}

TEST_CASE("an empty program has no axes", "[program]") {
  const Program program = MakeProgram("");
  const Semantics semantics = FindSemantics(program, Words());
  CHECK_FALSE(semantics.trains);
  CHECK_FALSE(semantics.has_examples());
  CHECK_FALSE(semantics.batch);
  CHECK_FALSE(semantics.sequence);
  CHECK_FALSE(semantics.vocabulary);
  CHECK_FALSE(semantics.has_attention());
}

}  // namespace TEST_FILE
