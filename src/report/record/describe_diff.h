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
  v.Record("success_sign");
  v.Need("kind", sign.kind, {.one_of = "dump statement progress exit_status"});
  v.Need("path", sign.path);
  v.Maybe("line", sign.line);
  v.Maybe("text", sign.text);
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
  v.Maybe("code", run.code);
  v.Maybe("module", run.module);
  v.Maybe("over_bytes", run.over_bytes);
  v.Maybe("at_least", run.at_least);
  v.Maybe("success", run.success);
}

void Describe(auto& v, RecordOf<TotalChange> auto& total) {
  v.Record("total");
  v.Need("id", total.id);
  v.Maybe("before", total.before);
  v.Maybe("after", total.after);
  v.MayShow("difference",
            [&] { return total.before && total.after ? std::optional(*total.after - *total.before) : std::nullopt; });
}

void Describe(auto& v, RecordOf<RowChange> auto& row) {
  const bool before = row.kind != RowChangeKind::kNew;
  const bool after = row.kind != RowChangeKind::kGone;
  const auto where = [](bool is, const auto& value) { return is ? std::optional(value) : std::nullopt; };
  v.Record("row");
  v.Need("change", row.kind, {.one_of = "smaller larger gone new"});
  v.Need("count", row.count);
  v.Need("name", row.name);
  v.Maybe("op_name", row.op_name);
  v.Maybe("source", row.source);
  v.Maybe("shape_before", where(before, row.shape_before));
  v.Maybe("size_before", where(before, row.size_before));
  v.Maybe("shape_after", where(after, row.shape_after));
  v.Maybe("size_after", where(after, row.size_after));
}

// The comparison of the allocations that the two runs list.
struct RowsRecord {
  std::uint64_t unchanged = 0;
  std::vector<RowChange> changed;
};

void Describe(auto& v, RecordOf<RowsRecord> auto& rows) {
  v.Record("rows");
  v.Need("unchanged", rows.unchanged);
  v.Need("changed", rows.changed);
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
  v.Need("verdict", VerdictOf(comparison.change), {.one_of = "fits still_over unknown"});
  v.Need("change", comparison.change,
         {.one_of = "fits_now neither_fails no_evidence fails_now other_failure less unchanged worse cannot_tell"});
  v.Need("before", run(diff.before, comparison.before));
  v.Need("after", run(diff.after, comparison.after));
  v.Need("same_job", comparison.same_job);
  v.Need("totals", comparison.totals);
  v.Maybe("allocations", rows);
  v.Need("notes", comparison.notes);
  v.Need("problems", problems);
}

}  // namespace whyoom
