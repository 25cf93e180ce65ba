// Compares estimates for the dumps in testdata with the results of a real compiler for the same programs and remedies
// (see source.md of each case).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "built_in_rules.h"
#include "catch.h"
#include "made_program.h"
#include "program/remedies.h"
#include "rules/rule_set.h"
#include "unit/rules/rule_schema.h"

using namespace whyoom;

namespace TEST_FILE {

namespace fs = std::filesystem;

constexpr std::int64_t kLimit = 16911433728;  // HBM of a v5e

std::unique_ptr<Program> Load(const std::string& name) {
  std::unique_ptr<ByteSource> assignment;
  std::unique_ptr<ByteSource> ranges;
  std::unique_ptr<ByteSource> optimized;
  std::unique_ptr<ByteSource> before;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(WHYOOM_SOURCE_DIR) / "testdata/cases" / name)) {
    const std::string path = entry.path().string();
    if (path.ends_with("buffer-assignment.txt")) assignment = OpenFile(path);
    if (path.ends_with("live-range.txt")) ranges = OpenFile(path);
    if (path.ends_with("oom_intermediate_module.txt")) optimized = OpenFile(path);
    if (path.ends_with("before_optimizations.txt")) before = OpenFile(path);
  }
  REQUIRE(assignment != nullptr);
  REQUIRE(optimized != nullptr);
  return std::make_unique<Program>(ReadHlo(*optimized), before ? ReadHlo(*before) : HloModule(),
                                   ReadMemory(*assignment, ranges.get()));
}

TEST_CASE("with the compiled sizes, the need equals the compiler's figure", "[program]") {
  for (const char* const name : {"dump-adam-layers", "dump-padded-points"}) {
    const std::unique_ptr<Program> program = Load(name);
    INFO(name);
    const BufferAssignment assignment(*program, false);
    const auto need = static_cast<double>(assignment.Need(assignment.compiled_sizes));
    const auto said = static_cast<double>(program->memory.need_bytes);
    CHECK(std::abs(need - said) <= said / 1000);
    // Fragmentation makes up for any difference to the compiler's figure, so it must be small.
    CHECK(std::abs(static_cast<double>(assignment.fragmentation)) <= said / 100);
  }
}

TEST_CASE("the memory by kind adds up to the need", "[program]") {
  for (const char* const name : {"dump-adam-layers", "dump-padded-points"}) {
    const ProgramEstimates estimates =
        EstimateProgram(*Load(name), BuiltInRules().role_words, kLimit, WithRemedies::kYes);
    INFO(name);
    const std::int64_t sum = std::accumulate(estimates.memory.begin(), estimates.memory.end(), std::int64_t{0},
                                             [](std::int64_t all, const MemoryPart& part) { return all + part.bytes; });
    CHECK(sum == estimates.need_bytes);
    CHECK(std::is_sorted(estimates.memory.begin(), estimates.memory.end(),
                         [](const MemoryPart& a, const MemoryPart& b) { return a.bytes > b.bytes; }));
  }
}

TEST_CASE("optimizer state dominates its program, and the batch hardly matters", "[program]") {
  const ProgramEstimates estimates =
      EstimateProgram(*Load("dump-adam-layers"), BuiltInRules().role_words, kLimit, WithRemedies::kYes);
  std::int64_t state = 0;
  for (const MemoryPart& part : estimates.memory) state += part.kind == "optimizer_state" ? part.bytes : 0;
  CHECK(state > estimates.need_bytes / 4);
  REQUIRE(estimates.Find("half_batch") != nullptr);
  CHECK(estimates.Find("half_batch")->saves_bytes < estimates.need_bytes / 50);
  REQUIRE(estimates.Find("donate") != nullptr);
  CHECK(estimates.Find("donate")->left_bytes < kLimit);  // it fits when recompiled with donation
}

TEST_CASE("tiny dimensions cause padding, and half the batch halves the points", "[program]") {
  const ProgramEstimates estimates =
      EstimateProgram(*Load("dump-padded-points"), BuiltInRules().role_words, kLimit, WithRemedies::kYes);
  REQUIRE_FALSE(estimates.memory.empty());
  CHECK(estimates.memory.front().kind == "padding");
  REQUIRE(estimates.Find("no_tiny_dimensions") != nullptr);
  CHECK(estimates.Find("no_tiny_dimensions")->left_bytes < kLimit / 8);
  REQUIRE(estimates.Find("half_batch") != nullptr);
  const double left = static_cast<double>(estimates.Find("half_batch")->left_bytes);
  CHECK(std::abs(left - static_cast<double>(estimates.need_bytes) / 2) < left / 50);
  CHECK(estimates.room.batch > estimates.room.largest_batch);
  CHECK(estimates.room.largest_batch > estimates.room.batch / 2);
}

TEST_CASE("each estimate is close to the compiled result", "[program]") {
  const ProgramEstimates estimates =
      EstimateProgram(*Load("dump-unrolled-layers"), BuiltInRules().role_words, kLimit, WithRemedies::kYes);
  // A dump does not show what the compiler would fuse and rematerialize, so allow a fifth of the device memory.
  const std::int64_t kOpen = kLimit / 5;
  for (const auto& [change, compiled] : {std::pair<const char*, std::int64_t>{"half_batch", 10560915968},
                                         {"half_sequence", 7733807616},
                                         {"attention_in_blocks", 10838476800}}) {
    INFO(change);
    const Effect* estimate = estimates.Find(change);
    REQUIRE(estimate != nullptr);
    CHECK(std::abs(estimate->left_bytes - compiled) < kOpen);
    CHECK(estimate->left_bytes <= kLimit);  // each compiled to a program that fits
  }
  // What layers in a Python loop would recompute is not known.
  CHECK(estimates.Find("recompute_layers") == nullptr);
}

TEST_CASE("an estimate states what the remedy applies to", "[program]") {
  const ProgramEstimates estimates =
      EstimateProgram(*Load("dump-unrolled-layers"), BuiltInRules().role_words, kLimit, WithRemedies::kYes);
  const Effect* shard = estimates.Find("shard");
  REQUIRE(shard != nullptr);
  CHECK(shard->parts == 4);
  REQUIRE(shard->axis.has_value());
  CHECK(shard->axis->array == "tokens");
  CHECK(shard->axis->number == 0);
  CHECK(shard->axis->length == 112);
  CHECK(shard->axis->name == "batch");
  // A table of learned positions has the sequence, too, which is no dimension of weights for that.
  REQUIRE(estimates.room.sequence_axis.has_value());
  CHECK(estimates.room.sequence_axis->name == "sequence");
  CHECK(estimates.room.sequence_axis->length == 1024);
  // Rotated points are not a batch: the program has no weights and trains nothing.
  const ProgramEstimates points =
      EstimateProgram(*Load("dump-padded-points"), BuiltInRules().role_words, kLimit, WithRemedies::kYes);
  REQUIRE(points.room.batch_axis.has_value());
  CHECK(points.room.batch_axis->array == "pts");
  CHECK(points.room.batch_axis->name.empty());
  const Effect* steps = points.Find("batch_in_steps");
  REQUIRE(steps != nullptr);
  CHECK(steps->ruled_out == "no_gradients");
  CHECK(points.Find("attention_in_blocks") == nullptr);  // not estimated, because the program has no attention
}

TEST_CASE("the estimate for micro-batches uses the number that `room` reports as fitting", "[program]") {
  const std::unique_ptr<Program> program = Load("dump-unrolled-layers");
  std::set<std::int64_t> steps;
  for (const int percent : {90, 60, 40, 30, 20, 15}) {
    const std::int64_t limit = program->memory.need_bytes * percent / 100;
    const ProgramEstimates estimates = EstimateProgram(*program, BuiltInRules().role_words, limit, WithRemedies::kYes);
    INFO(percent);
    const Effect* micro = estimates.Find("batch_in_steps");
    REQUIRE(micro != nullptr);
    if (estimates.room.micro_batches > 0) {
      CHECK(micro->parts == estimates.room.micro_batches);
      CHECK(112 % micro->parts == 0);
    }
    CHECK((micro->left_bytes <= limit) == (estimates.room.micro_batches > 0));
    steps.insert(estimates.room.micro_batches);
  }
  CHECK(steps.contains(4));    // four are enough for a high limit
  CHECK(*steps.rbegin() > 4);  // a low limit needs more
}

TEST_CASE("an empty program has no estimates, and the rule data names only existing remedies", "[program]") {
  const Program nothing{HloModule(), HloModule(), ModuleMemory()};
  const ProgramEstimates estimates = EstimateProgram(nothing, BuiltInRules().role_words, kLimit, WithRemedies::kYes);
  CHECK(estimates.need_bytes == 0);
  CHECK(estimates.memory.empty());
  CHECK(estimates.room.batch == 0);
  const nlohmann::json schema = nlohmann::json::parse(RuleSchema());
  for (const auto& name : schema.at("definitions").at("remedy").at("properties").at("change").at("enum"))
    CHECK(std::ranges::count(kRemedies, name.get<std::string>(), &ProgramRemedy::name) == 1);
}

TEST_CASE("an instruction that repeats an operand is its user only once", "[program]") {
  // Otherwise the number of paths through copies would grow exponentially.
  const std::unique_ptr<ByteSource> text = OpenMemory(
      "HloModule jit_s, is_scheduled=true\n\nENTRY %main (p: f32[8]) -> f32[8] {\n  %p = f32[8]{0} parameter(0)\n"
      "  %a = f32[8]{0} copy(%p, %p, %p)\n  ROOT %b = f32[8]{0} add(%a, %a)\n}\n");
  const Program program(ReadHlo(*text), HloModule(), ModuleMemory());
  for (const char* const name : {"p", "a"}) {
    INFO(name);
    const InstructionId instruction = program.module.Find(name);
    REQUIRE(instruction);
    CHECK(program.users[instruction].size() == 1);
  }
}

TEST_CASE("a batch that is split over devices has its full size", "[program]") {
  // The weights are split, too, along another mesh axis.
  const Program program = MakeProgram(
      R"(ENTRY %main {
  %w = f32[2048,8192]{1,0} parameter(0), sharding={mesh['data'=4,'model'=2], [{}, {'model'}]}, metadata={op_name="params[\'w\']"}
  %x = f32[64,2048]{1,0} parameter(1), sharding={mesh['data'=4,'model'=2], [{'data'}, {}]}, metadata={op_name="batch[\'x\']"}
  ROOT %y = f32[64,8192]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)",
      "BufferAssignment:\n"
      "allocation 0: size 67108864, page 0, parameter 0, shape |f32[2048,8192]| at ShapeIndex {}:\n"
      " value: <1 w @0> (size=67108864,offset=0): f32[2048,8192]{1,0}\n"
      "allocation 1: size 524288, page 0, parameter 1, shape |f32[64,2048]| at ShapeIndex {}:\n"
      " value: <2 x @0> (size=524288,offset=0): f32[64,2048]{1,0}\n"
      "allocation 2: size 2097152, page 0, preallocated-temp:\n"
      " value: <3 y @0> (size=2097152,offset=0): f32[64,8192]{1,0}\n",
      "HloLiveRange (max 9):\n  InstructionSequence:\n  BufferLiveRange:\n"
      "    w{}:0-9\n    x{}:0-9\n    y{}:2-9\n");
  const ProgramEstimates estimates = EstimateProgram(program, BuiltInRules().role_words, kLimit, WithRemedies::kYes);
  CHECK(estimates.room.batch == 4 * 64);
  CHECK(estimates.room.batch_devices == 4);
}

}  // namespace TEST_FILE
