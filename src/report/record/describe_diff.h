// Describes the JSON of `whyoom diff`; write-only. See describe.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/diff.h"
#include "report/record/describe.h"

namespace whyoom {

inline constexpr const char* kDiffSchema = "whyoom.diff/1";

void Describe(auto& v, RecordOf<SuccessSign> auto& sign) {
  v.Record("success_sign", "Evidence that a run's program compiled or ran.");
  v.Need(
      "kind", sign.kind,
      {.about = "dump: an XLA dump of a program that fits; statement: a line with the memory that the compiled program "
                "needs; progress: a line that is printed only once the program compiled; exit_status: whyoom run "
                "recorded 0.",
       .one_of = "dump statement progress exit_status"});
  v.Need("path", sign.path);
  v.Maybe("line", sign.line, {.about = "Absent if the whole file is the evidence."});
  v.Maybe("text", sign.text, {.about = "The line, shortened."});
}

// One of the two runs.
struct RunRecord {
  std::string path;
  bool failed = false;
  std::string code;
  std::string module;
  std::optional<std::int64_t> over_bytes;
  bool at_least = false;
  std::optional<SuccessSign> success;
};

void Describe(auto& v, RecordOf<RunRecord> auto& run) {
  v.Record("run");
  v.Need("path", run.path);
  v.Need("failed", run.failed);
  v.Maybe("code", run.code, {.about = "Absent if only a dump shows the failure."});
  v.Maybe("module", run.module);
  v.Maybe("over_bytes", run.over_bytes, {.about = "Need minus limit; negative if memory is free."});
  v.Maybe("at_least", run.at_least, {.about = "over_bytes is a lower bound: it covers only a part of the need."});
  v.Maybe("success", run.success,
          {.about = "Evidence that its program compiled or ran; absent if there is none or the run failed."});
}

void Describe(auto& v, RecordOf<TotalChange> auto& total) {
  v.Record("total");
  v.Need("id", total.id,
         {.about = "need_bytes, limit_bytes (if it differs), arguments_bytes, output_bytes, shared_output_bytes, "
                   "hlo_temp_bytes, padding_bytes, host_bytes, free_bytes, largest_free_block_bytes."});
  v.Maybe("before", total.before);
  v.Maybe("after", total.after);
  v.MayShow("difference",
            [&] { return total.before && total.after ? std::optional(*total.after - *total.before) : std::nullopt; });
}

void Describe(auto& v, RecordOf<RowChange> auto& row) {
  const bool before = row.kind != RowChangeKind::kNew;
  const bool after = row.kind != RowChangeKind::kGone;
  const auto where = [](bool is, const auto& value) { return is ? std::optional(value) : std::nullopt; };
  v.Record("row", "Allocations that changed in the same way.");
  v.Need("change", row.kind, {.one_of = "smaller larger gone new"});
  v.Need("count", row.count);
  v.Need("name", row.name);
  v.Maybe("op_name", row.op_name);
  v.Maybe("source", row.source, {.about = "\"train.py:17\"."});
  v.Maybe("shape_before", where(before, row.shape_before), {.about = "Absent if the allocation is new."});
  v.Maybe("size_before", where(before, row.size_before), {.about = "Bytes of each allocation."});
  v.Maybe("shape_after", where(after, row.shape_after), {.about = "Absent if the allocation is gone."});
  v.Maybe("size_after", where(after, row.size_after), {.about = "Bytes of each allocation."});
}

// The comparison of the allocations that the two runs list.
struct RowsRecord {
  std::uint64_t unchanged = 0;
  std::vector<RowChange> changed;
};

void Describe(auto& v, RecordOf<RowsRecord> auto& rows) {
  v.Record("rows");
  v.Need("unchanged", rows.unchanged);
  v.Need("changed", rows.changed, {.about = "Sorted by the size of the change, largest first."});
}

struct DiffProblem {
  std::string path;
  std::string what;
};

void Describe(auto& v, RecordOf<DiffProblem> auto& problem) {
  v.Record("diff_problem");
  v.Need("path", problem.path);
  v.Need("what", problem.what);
}

template <class V>
void DescribeDiff(V& v, const Diff& diff, const ToolRecord& tool) {
  const Comparison& comparison = diff.comparison;
  const auto run = [](const Run& of, const RunFigures& figures) {
    return RunRecord{of.path, of.failed, of.code, figures.module, figures.over, figures.at_least, of.success};
  };
  std::optional<RowsRecord> rows;
  if (comparison.rows_compared) rows = {comparison.unchanged_rows, comparison.rows};
  std::vector<DiffProblem> problems;
  for (const Problem& problem : diff.problems) problems.push_back({problem.path, problem.what});
  v.Record("diff");
  v.Constant("schema", kDiffSchema);
  v.Need("tool", tool);
  v.Need("verdict", VerdictOf(comparison.change),
         {.about = "fits: AFTER contains no memory failure, and something shows that its program compiled or ran; "
                   "still_over: AFTER runs out of memory, or needs more than the limit; unknown: AFTER contains no "
                   "memory failure, and nothing shows that its program compiled or ran.",
          .one_of = "fits still_over unknown"});
  v.Need("change", comparison.change,
         {.about = "From BEFORE to AFTER. fits_now and neither_fails: the verdict is fits; no_evidence: it is unknown; "
                   "the others: it is still_over. less, unchanged and worse compare the excess over the limit; "
                   "other_failure: AFTER runs out of memory in another way; cannot_tell: the excess cannot be "
                   "compared.",
          .one_of = "fits_now neither_fails no_evidence fails_now other_failure less unchanged worse cannot_tell"});
  v.Need("before", run(diff.before, comparison.before));
  v.Need("after", run(diff.after, comparison.after));
  v.Need("same_job", comparison.same_job, {.about = "False if the modules differ."});
  v.Need("totals", comparison.totals);
  v.Maybe("allocations", rows, {.about = "Absent unless both runs list their allocations."});
  v.Need("notes", comparison.notes);
  v.Need("problems", problems);
}

}  // namespace whyoom
