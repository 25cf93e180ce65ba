// Comparing two hand-written runs: totals, rows, and the trace of each remedy.
#include "diagnose/compare.h"

#include <string>
#include <utility>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "cli/run_context.h"

using namespace whyoom;

namespace TEST_FILE {

constexpr double kGiB = 1024.0 * 1024 * 1024;

Comparison Compare(const Run& before, const Run& after) { return whyoom::Compare(before, after, BuiltInRules()); }

Allocation MakeRow(const std::string& op, const std::string& shape, double gib, const std::string& label = "fusion") {
  Allocation row;
  row.op_name = op;
  row.shape_text = shape;
  row.array = ParseArrayShape(shape);
  row.size_bytes = static_cast<std::int64_t>(gib * kGiB);
  if (row.array) row.unpadded_bytes = UnpaddedBytes(*row.array);
  if (row.unpadded_bytes && *row.unpadded_bytes < *row.size_bytes)
    row.padding_bytes = *row.size_bytes - *row.unpadded_bytes;
  row.xla_label = label;
  return row;
}

// A compile that needs this much of 16 GiB.
Run MakeRun(double need_gib, std::vector<Allocation> rows,
            const std::vector<std::pair<std::string, double>>& more = {}) {
  Run run;
  run.failed = need_gib > 16;
  if (!run.failed) run.success = SuccessSign{};
  run.compiles = true;
  run.code = run.failed ? "E1000" : "";
  run.facts.Set("need_bytes", need_gib * kGiB, {});
  run.facts.Set("limit_bytes", 16 * kGiB, {});
  run.facts.Set("module", std::string("jit_step"), {});
  for (const auto& [name, gib] : more) run.facts.Set(name, gib * kGiB, {});
  run.allocations = std::move(rows);
  return run;
}

std::vector<Allocation> Layers(const std::string& shape, double gib, const std::string& op = "jit(step)/jvp(layer_") {
  std::vector<Allocation> rows;
  for (int i = 0; i < 4; ++i) rows.push_back(MakeRow(op + std::to_string(i) + ")/dot_general", shape, gib));
  return rows;
}

const std::string kLayer = "f32[64,1024,4096]{2,1,0:T(8,128)}";

TEST_CASE("the change between two runs follows from their figures", "[diagnose]") {
  const auto change = [](const Run& before, const Run& after) { return Compare(before, after).change; };
  CHECK(change(MakeRun(20, {}), MakeRun(18, {})) == RunChange::kLess);
  CHECK(change(MakeRun(20, {}), MakeRun(22, {})) == RunChange::kWorse);
  CHECK(change(MakeRun(20, {}), MakeRun(20.004, {})) == RunChange::kUnchanged);
  CHECK(change(MakeRun(20, {}), MakeRun(12, {})) == RunChange::kFitsNow);
  CHECK(change(MakeRun(12, {}), MakeRun(20, {})) == RunChange::kFailsNow);
  CHECK(change(MakeRun(12, {}), MakeRun(11, {})) == RunChange::kNeitherFails);
  Run other = MakeRun(20, {});
  other.code = "0100";
  CHECK(change(MakeRun(20, {}), other) == RunChange::kOtherFailure);
  Run unknown;
  unknown.failed = true;
  CHECK(change(MakeRun(20, {}), unknown) == RunChange::kCannotTell);
  CHECK(change(unknown, unknown) == RunChange::kCannotTell);
}

TEST_CASE("a run without a failure fits only if there is evidence", "[diagnose]") {
  Run silent;
  CHECK(Compare(MakeRun(20, {}), silent).change == RunChange::kNoEvidence);
  CHECK(Compare(silent, silent).change == RunChange::kNoEvidence);
  Run ran = silent;
  ran.success = SuccessSign{SuccessSign::Kind::kProgress, "b.log", 3, "step 1 loss 2.0"};
  CHECK(Compare(MakeRun(20, {}), ran).change == RunChange::kFitsNow);
  CHECK(Compare(silent, ran).change == RunChange::kNeitherFails);
  Run other = MakeRun(12, {});  // a dump of another program is no evidence for this one
  other.facts.Set("module", std::string("jit_eval"), {}, true);
  CHECK(Compare(MakeRun(20, {}), other).change == RunChange::kNoEvidence);
  Run failed = MakeRun(20, {});  // steps before the failure
  failed.success = ran.success;
  CHECK(Compare(MakeRun(21, {}), failed).change == RunChange::kLess);
}

TEST_CASE("a verdict follows from the change", "[diagnose]") {
  CHECK(VerdictOf(RunChange::kFitsNow) == DiffVerdict::kFits);
  CHECK(VerdictOf(RunChange::kNeitherFails) == DiffVerdict::kFits);
  CHECK(VerdictOf(RunChange::kNoEvidence) == DiffVerdict::kUnknown);
  for (const RunChange change : {RunChange::kFailsNow, RunChange::kOtherFailure, RunChange::kLess,
                                 RunChange::kUnchanged, RunChange::kWorse, RunChange::kCannotTell})
    CHECK(VerdictOf(change) == DiffVerdict::kStillOver);
}

TEST_CASE("a limit that only one run states applies to both", "[diagnose]") {
  Run dump = MakeRun(12, {});
  dump.facts = Evidence();
  dump.facts.Set("need_bytes", 12 * kGiB, {});
  const Comparison comparison = Compare(MakeRun(20, {}), dump);
  CHECK(comparison.before.over == static_cast<std::int64_t>(4 * kGiB));
  CHECK(comparison.after.over == static_cast<std::int64_t>(-4 * kGiB));
}

TEST_CASE("a report that counts temporaries only is a lower bound", "[diagnose]") {
  const std::vector<std::pair<std::string, double>> only = {
      {"hlo_temp_bytes", 18}, {"arguments_bytes", 0}, {"output_bytes", 0}};
  const std::vector<std::pair<std::string, double>> all = {
      {"hlo_temp_bytes", 14}, {"arguments_bytes", 6}, {"output_bytes", 0}};
  CHECK(Compare(MakeRun(18, {}, only), MakeRun(20, {}, all)).change == RunChange::kCannotTell);
  CHECK(Compare(MakeRun(20, {}, all), MakeRun(18, {}, only)).change == RunChange::kCannotTell);
  CHECK(Compare(MakeRun(18, {}, only), MakeRun(17, {}, all)).change == RunChange::kLess);
  const Comparison worse = Compare(MakeRun(17, {}, all), MakeRun(18, {}, only));
  CHECK(worse.change == RunChange::kWorse);
  CHECK(worse.after.at_least);
  for (const TotalChange& total : worse.totals) CHECK((total.id != "arguments_bytes" || !total.after));
}

TEST_CASE("different modules are compared with a note", "[diagnose]") {
  Run other = MakeRun(18, {});
  other.facts.Set("module", std::string("jit_eval"), {}, true);
  const Comparison comparison = Compare(MakeRun(20, {}), other);
  CHECK_FALSE(comparison.same_job);
  CHECK(comparison.change == RunChange::kLess);
  REQUIRE_FALSE(comparison.notes.empty());
  CHECK(comparison.notes[0].find("jit_eval") != std::string::npos);
}

TEST_CASE("allocations are matched, and equal changes are joined", "[diagnose]") {
  std::vector<Allocation> before = Layers(kLayer, 1);
  before.push_back(MakeRow("jit(step)/logits", "f32[8,128]{1,0}", 3));
  before.push_back(MakeRow("jit(step)/kept", "f32[16,128]{1,0}", 2));
  std::vector<Allocation> after = Layers("bf16[64,1024,4096]{2,1,0:T(8,128)(2,1)}", 0.5);
  after.push_back(MakeRow("jit(step)/kept", "f32[16,128]{1,0:T(8,128)}", 2));
  after.push_back(MakeRow("jit(step)/mask", "pred[99]{0}", 0.25));
  const Comparison comparison = Compare(MakeRun(20, before), MakeRun(18, after));
  CHECK(comparison.rows_compared);
  CHECK(comparison.unchanged_rows == 1);
  REQUIRE(comparison.rows.size() == 3);
  CHECK(comparison.rows[0].kind == RowChangeKind::kGone);
  CHECK(comparison.rows[0].shape_before == "f32[8,128]");
  CHECK(comparison.rows[1].kind == RowChangeKind::kSmaller);
  CHECK(comparison.rows[1].count == 4);
  CHECK(comparison.rows[1].shape_after == "bf16[64,1024,4096]");
  CHECK(comparison.rows[1].difference() == static_cast<std::int64_t>(-2 * kGiB));
  CHECK(comparison.rows[2].kind == RowChangeKind::kNew);
  CHECK(comparison.rows[2].size_after == static_cast<std::int64_t>(0.25 * kGiB));
}

TEST_CASE("rows of a kind that a log does not list are neither new nor gone", "[diagnose]") {
  Allocation temporary = MakeRow("a", "f32[8]", 1);
  temporary.kind = "HLO temp";
  Allocation weight = MakeRow("b", "f32[9]", 2);
  weight.kind = kParameter;
  Run log = MakeRun(20, {temporary});
  Run dump = MakeRun(18, {weight});
  dump.code.clear();
  // A dump lists all: it has no such temporary.
  const Comparison comparison = Compare(log, dump);
  REQUIRE(comparison.rows.size() == 1);
  CHECK(comparison.rows[0].kind == RowChangeKind::kGone);
  CHECK(comparison.rows[0].op_name == "a");
  REQUIRE(Compare(dump, log).rows.size() == 1);
  CHECK(Compare(dump, log).rows[0].kind == RowChangeKind::kNew);
  log.allocations.push_back(MakeRow("c", "f32[7]", 3));
  log.allocations.back().kind = kParameter;
  CHECK(Compare(log, dump).rows.size() == 3);
}

TEST_CASE("rounded sizes are not a change", "[diagnose]") {
  const Comparison comparison =
      Compare(MakeRun(20, {MakeRow("a", "f32[8]{0}", 1.69)}), MakeRun(18, {MakeRow("b", "f32[8]{0}", 1.6875)}));
  CHECK(comparison.unchanged_rows == 1);
  CHECK(comparison.rows.empty());
}

TEST_CASE("findings with the same code and module are compared", "[diagnose]") {
  FailureRule compile;
  compile.code = "E1000";
  FailureRule run;
  run.code = "0100";
  const auto failure = [](const FailureRule& rule, const std::string& module) {
    Failure made;
    made.rule = &rule;
    if (!module.empty()) made.facts.Set("module", module, {});
    return made;
  };
  const std::vector<Failure> before = {failure(run, ""), failure(compile, "jit_a"), failure(compile, "jit_b")};
  const std::vector<Failure> after = {failure(compile, "jit_b"), failure(compile, "jit_c")};
  CHECK(MatchFailures(before, after) == FailurePair(&before[2], &after[0]));
  CHECK(MatchFailures({before[0]}, after).second == &after[0]);
  CHECK(MatchFailures({before[0]}, {}).second == nullptr);
}

}  // namespace TEST_FILE
