// Locating a dimension in the user's arguments.
#include <optional>
#include <string>

#include "catch.h"
#include "made_program.h"
#include "program/remedies.h"

using namespace whyoom;

namespace TEST_FILE {

RoleWords Words() {
  RoleWords words;
  words.weights = {"params"};
  words.inputs = {"batch"};
  return words;
}

// The arguments are `w` and those of `inputs`; the memory is that of the product of `x` and `w`.
Program Layer(const std::string& inputs, const std::string& w_name = ", metadata={op_name=\"params\"}") {
  return MakeProgram("ENTRY %main {\n  %w = f32[2048,8192]{1,0} parameter(0)" + w_name + "\n" + inputs +
                         "  ROOT %y = f32[64,8192]{1,0} dot(%x, %w), lhs_contracting_dims={1}, "
                         "rhs_contracting_dims={0}, metadata={op_name=\"jit(f)/dot\"}\n}\n",
                     "BufferAssignment:\n"
                     "allocation 0: size 67108864, page 0, parameter 0, shape |f32[2048,8192]| at ShapeIndex {}:\n"
                     " value: <1 w @0> (size=67108864,offset=0): f32[2048,8192]{1,0}\n"
                     "allocation 1: size 524288, page 0, parameter 1, shape |f32[64,2048]| at ShapeIndex {}:\n"
                     " value: <2 x @0> (size=524288,offset=0): f32[64,2048]{1,0}\n"
                     "allocation 2: size 2097152, page 0, preallocated-temp:\n"
                     " value: <3 y @0> (size=2097152,offset=0): f32[64,8192]{1,0}\n");
}

const char* const kInput = "  %x = f32[64,2048]{1,0} parameter(1), metadata={op_name=\"batch[\\'x\\']\"}\n";

// The axis of a dimension of an instruction's result.
Axis AxisOf(const Program& program, const std::string& name, std::size_t dim) {
  const ArrayId array{program.module.Find(name), 0};
  REQUIRE(array.instruction);
  return {program.dimensions.GroupsOf(array)[dim], program.ShapeOf(array).dims[dim]};
}

// "path 0 64 batch", or "nowhere".
std::string Place(const Program& program, const std::string& name, std::size_t dim) {
  const Semantics semantics = FindSemantics(program, Words());
  const std::optional<AxisLocation> place = LocateAxis(program, semantics, AxisOf(program, name, dim));
  if (!place) return "nowhere";
  return place->array + " " + std::to_string(place->number) + " " + std::to_string(place->length) + " " + place->name;
}

TEST_CASE("a dimension is found in the argument that has it", "[program]") {
  const Program program = Layer(kInput);
  CHECK(Place(program, "y", 0) == "batch['x'] 0 64 batch");
  CHECK(Place(program, "y", 1) == "params 1 8192 ");  // its name is unknown
}

TEST_CASE("a missing axis has no location", "[program]") {
  const Program program = Layer(kInput);
  const Semantics semantics = FindSemantics(program, Words());
  CHECK_FALSE(LocateAxis(program, semantics, Axis()));
  CHECK_FALSE(LocateAxis(program, semantics, {{GroupId(1000000)}, 64}));
  CHECK_FALSE(
      LocateAxis(program, semantics, {{semantics.batch.groups[0], GroupId(1000000)}, 64}));  // only a part of the axis
}

TEST_CASE("an input is preferred to weights of any size", "[program]") {
  CHECK(Place(Layer(kInput), "x", 1) == "batch['x'] 1 2048 ");
}

TEST_CASE("if several inputs have the dimension, the largest is chosen", "[program]") {
  // The same dimension in three arrays, which are added.
  const Program program = Layer(
      "  %x = f32[64,2048]{1,0} parameter(1), metadata={op_name=\"batch[\\'x\\']\"}\n"
      "  %small = f32[64]{0} parameter(2), metadata={op_name=\"batch[\\'small\\']\"}\n"
      "  %wide = f32[64,2048]{1,0} broadcast(%small), dimensions={0}\n"
      "  %sum = f32[64,2048]{1,0} add(%x, %wide)\n");
  CHECK(Place(program, "small", 0) == "batch['x'] 0 64 batch");
}

TEST_CASE("an argument that only the compiler named is not chosen", "[program]") {
  CHECK(Place(Layer("  %x = f32[64,2048]{1,0} parameter(1)\n"), "x", 0) == "nowhere");
  CHECK(Place(Layer(kInput, ""), "w", 1) == "nowhere");
}

TEST_CASE("the length is the sum over all devices", "[program]") {
  const Program program = Layer(
      "  %x = f32[64,2048]{1,0} parameter(1), sharding={mesh['data'=4,'model'=2], [{'data'}, {}]}, "
      "metadata={op_name=\"batch[\\'x\\']\"}\n");
  CHECK(Place(program, "x", 0) == "batch['x'] 0 256 batch");
  CHECK(Place(program, "x", 1) == "batch['x'] 1 2048 ");
}

}  // namespace TEST_FILE
