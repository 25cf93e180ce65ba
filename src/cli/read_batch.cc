#include "cli/read_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/batch.h"
#include "cli/file_stamp.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/resume_journal.h"
#include "cli/terminal.h"
#include "report/finding_view.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

std::size_t Jobs(const Options& options) {
  return options.jobs > 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
}

// --quiet is over what nobody asked for.
ProgressMode ProgressOf(const Options& options) {
  return options.quiet && options.progress == ProgressMode::kAuto ? ProgressMode::kNever : options.progress;
}

// All that the readings of an input depend on beside the input and the rule data. An option that changes what is found
// in an input belongs here, or a journal would give what was found without it.
std::string Settings(const RuleSource& rules, const Options& options) {
  const auto time = [](const std::optional<Timestamp>& bound) { return bound ? ToString(*bound) : "none"; };
  const Limits& limits = options.limits;
  return fmt::format("whyoom {}\nrules {}\nlimits {} {} {} {} {} {} {}\nrange {} {}", WHYOOM_VERSION,
                     rules.fingerprint(), limits.bytes, limits.suspicious_bytes, limits.suspicious_ratio, limits.depth,
                     limits.members, limits.seconds, limits.memory, time(options.range.since),
                     time(options.range.until));
}

class BatchReader {
 public:
  BatchReader(const Engine& engine, const RuleSource& rules, const Options& options, const OutputFiles& outputs,
              const Interrupt& interrupt, const Told& told, ReadControl* control, XlaDump* dump)
      : engine_(engine),
        options_(options),
        outputs_(outputs),
        dump_(*dump),
        interrupt_(interrupt),
        told_(told),
        control_(*control),
        wants_sizes_(Progress::IsWanted(ProgressOf(options))) {
    if (!options.resume.empty()) journal_.emplace(options.resume, rules, Settings(rules, options));
    if (const std::size_t count = journal_ ? journal_->damaged_lines() : 0; count > 0 && !options.quiet)
      WriteError(fmt::format("whyoom: --resume: '{}' had {}; these inputs are read again\n", Printable(options.resume),
                             Counted(count, "damaged line", "damaged lines")));
  }

  Readings Read();

 private:
  void List(Inputs* inputs, Batch* batch);
  bool Admit(const Artifact& input);
  Readings ReadOne(const Artifact& input, std::size_t threads);
  void CountDone(const FileStamp& stamp, const Readings& readings, bool reused);
  std::string InterruptText(int signal) const;

  const Engine& engine_;
  const Options& options_;
  const OutputFiles& outputs_;
  XlaDump& dump_;
  const Interrupt& interrupt_;
  const Told& told_;
  ReadControl& control_;
  const bool wants_sizes_;
  std::optional<ResumeJournal> journal_;
  BatchCounts counts_;
  std::atomic<std::uint64_t> not_read_{0};   // found, but the batch was interrupted
  std::atomic<std::uint64_t> cut_short_{0};  // perhaps; they were being read when it was
};

Readings BatchReader::Read() {
  Readings readings;
  Inputs inputs(options_, control_);
  {
    const Progress progress(ProgressOf(options_), counts_, control_);
    Batch batch(Jobs(options_), [this](const Artifact& input, std::size_t threads) { return ReadOne(input, threads); });
    List(&inputs, &batch);
    readings = batch.Finish();
  }
  std::vector<Problem> problems = inputs.TakeProblems(&readings.problems_left_out);
  if (journal_) {
    if (std::optional<Problem> problem = journal_->Close()) problems.push_back(*std::move(problem));
  }
  const bool incomplete = not_read_ + cut_short_ > 0 || !counts_.listed;
  if (const int signal = interrupt_.signal(); signal != 0 && incomplete)
    problems.push_back({"the rest", "", InterruptText(signal)});
  std::move(problems.begin(), problems.end(), std::back_inserter(readings.problems));
  return readings;
}

// Hands out the inputs to read as they are listed.
void BatchReader::List(Inputs* inputs, Batch* batch) {
  while (const std::optional<Artifact> input = inputs->Next()) {
    if (!Admit(*input)) continue;
    ++counts_.files_known;
    if (control_.stopped()) {
      ++not_read_;
      return;
    }
    batch->Add(*input);
  }
  counts_.listed = inputs->all_listed();  // a list may have ended because of an interrupt
}

// Counts an input that this shard reads, and says whether it is one; a file of a dump is noted instead.
bool BatchReader::Admit(const Artifact& input) {
  outputs_.ThrowIfOutput(input.path);
  // All modules of a folder are judged together, so they are one shard's.
  const bool is_of_dump =
      dump_.AddFile(input.path, options_.shard.Owns(input.path.substr(0, input.path.rfind('/') + 1)));
  if (is_of_dump) told_.PassedOver(input.path, "a part of an XLA dump, which is read as a whole");
  if (is_of_dump) return false;
  if (!options_.shard.Owns(input.path)) {
    told_.PassedOver(input.path, "of another shard");
    return false;
  }
  if (wants_sizes_) {
    const FileStamp stamp = StampOf(input.path);
    counts_.size_known += stamp.size;
    if (!stamp.regular) counts_.size_unknown = true;
  }
  return true;
}

Readings BatchReader::ReadOne(const Artifact& input, std::size_t threads) {
  if (control_.stopped()) {
    ++not_read_;
    return {};
  }
  const FileStamp stamp = wants_sizes_ || journal_ ? StampOf(input.path) : FileStamp();
  if (journal_) {
    if (journal_->IsOwn(stamp)) {
      told_.PassedOver(input.path, "the journal of --resume");
      ++counts_.files_done;
      return {};
    }
    if (std::optional<Readings> earlier = journal_->Recall(input, stamp)) {
      CountDone(stamp, *earlier, true);
      told_.PassedOver(input.path, "read by an earlier run, and not changed since");
      return *std::move(earlier);
    }
  }
  const auto begin = std::chrono::steady_clock::now();
  Readings readings = ReadInput(engine_, input, options_.limits, {options_.range, threads, &control_});
  if (control_.stopped()) {
    ++cut_short_;
  } else if (journal_) {
    journal_->Record(input, stamp, readings);
  }
  CountDone(stamp, readings, false);
  told_.Read(input.path, readings, begin);
  return readings;
}

void BatchReader::CountDone(const FileStamp& stamp, const Readings& readings, bool reused) {
  if (reused) ++counts_.files_reused;
  (reused ? counts_.size_reused : counts_.size_done) += stamp.size;
  if (!reused) counts_.bytes_done += readings.bytes;
  if (readings.table) counts_.findings += readings.table->entries().size();
  ++counts_.files_done;
}

std::string BatchReader::InterruptText(int signal) const {
  const char* name = signal == SIGINT ? "SIGINT" : signal == SIGTERM ? "SIGTERM" : "SIGHUP";
  std::vector<std::string> parts;
  if (const std::uint64_t count = not_read_; count > 0)
    parts.push_back(fmt::format("{}{} {} not read", counts_.listed ? "" : "at least ", count,
                                count == 1 ? "input was" : "inputs were"));
  if (const std::uint64_t count = cut_short_; count > 0)
    parts.push_back(fmt::format("{}{} perhaps not to the end", count,
                                not_read_ > 0 ? ""
                                : count == 1  ? " input was read"
                                              : " inputs were read"));
  if (!counts_.listed && not_read_ == 0) parts.emplace_back("there may be more inputs");
  return fmt::format("interrupted by {}: {}", name, fmt::join(parts, ", "));
}

}  // namespace

Readings ReadBatch(const Engine& engine, const RuleSource& rules, const Options& options, const OutputFiles& outputs,
                   const Interrupt& interrupt, const Told& told, ReadControl* control, XlaDump* dump) {
  return BatchReader(engine, rules, options, outputs, interrupt, told, control, dump).Read();
}

}  // namespace whyoom
