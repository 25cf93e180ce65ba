#include "program/dump_files.h"

#include <future>
#include <memory>
#include <utility>

#include "program/dimensions.h"
#include "program/one_compile.h"

namespace whyoom {
namespace {

// The limit that is known may be rounded.
constexpr double kSurelyFits = 0.99;

const char* const kDamaged = "cut short or damaged: ";
const char* const kOther = "of another compile than the other files of its module: ";
const char* const kNoRoom = "it is left out, and what would fit cannot be told";

bool IsDamaged(const HloModule& module) { return !module.whole && !module.over_limit; }

class DumpFileReader {
 public:
  DumpFileReader(const DumpPaths& paths, const MemoryLimits& limits, double limit_bytes, bool work_out,
                 const Stop& stop)
      : paths_(paths), limits_(limits), limit_bytes_(limit_bytes), work_out_(work_out), stop_(stop) {}

  DumpFiles Read();

 private:
  HloModule ReadText(const std::string& path) const;
  void ReadAll();
  bool ReadFiles();
  void TakeText();
  bool FindStale();
  bool CheckValues();
  bool HasRanges() const { return files_.memory.ranges_whole && files_.memory.schedule_length > 0; }
  void CheckRanges();
  void CheckFailure();
  void ReadBefore();
  void Note(const std::string& path, std::string what);
  bool Refuse(std::string what);

  const DumpPaths& paths_;
  const MemoryLimits& limits_;
  const double limit_bytes_;
  const bool work_out_;
  const Stop& stop_;
  DumpFiles files_;
  bool compares_ = false;  // the text is whole, so that names and shapes can be looked for in it
};

// A file that was not read to its end looks as if it were damaged, which it is not.
DumpFiles DumpFileReader::Read() {
  ReadAll();
  if (!stop_.IsAsked()) return std::move(files_);
  DumpFiles none;
  none.problem = {paths_.buffer_assignment, "", stop_.Why() + ": " + kNoNeed};
  return none;
}

HloModule DumpFileReader::ReadText(const std::string& path) const {
  return path.empty() ? HloModule() : ReadHlo(*stop_.Open(path));
}

void DumpFileReader::ReadAll() {
  files_.failed = !paths_.intermediate.empty();
  files_.text_path = files_.failed ? paths_.intermediate : paths_.optimized;
  if (!ReadFiles() || !CheckValues()) return;
  TakeText();
  CheckRanges();
  if (compares_ && LacksValues(files_.memory, files_.text, limits_.smallest)) {
    Refuse(std::string(kDamaged) + kNoNeed);
    return;
  }
  files_.usable = true;
  CheckFailure();
  files_.whole = work_out_ && compares_ && files_.memory.schedule_length > 0;
  if (files_.whole) ReadBefore();
}

// The first note counts: what matters most is looked at first.
void DumpFileReader::Note(const std::string& path, std::string what) {
  if (files_.problem.what.empty()) files_.problem = {path, "", std::move(what)};
}

bool DumpFileReader::Refuse(std::string what) {
  files_.problem = {paths_.buffer_assignment, "", std::move(what)};
  return false;
}

bool DumpFileReader::ReadFiles() {
  const std::unique_ptr<ByteSource> assignment = stop_.Open(paths_.buffer_assignment);
  const std::unique_ptr<ByteSource> ranges = paths_.live_range.empty() ? nullptr : stop_.Open(paths_.live_range);
  // Beside the module, which takes longer; what comes of both does not depend on which is done first.
  std::future<ModuleMemory> reading = std::async(std::launch::async | std::launch::deferred,
                                                 [&] { return ReadMemory(*assignment, ranges.get(), limits_); });
  files_.text = ReadText(files_.text_path);
  files_.memory = reading.get();
  compares_ = files_.text.whole && files_.text.entry >= 0;
  if (!assignment->problem().empty()) return Refuse(std::string(assignment->problem()));
  if (files_.memory.allocations.empty()) return Refuse(kNothingAssigned);
  return files_.memory.assignment_whole || Refuse(std::string(kDamaged) + kNoNeed);
}

// Whether the assignment can be relied on, as far as the module tells. Where the module that a failure leaves is not
// its module, but the other one is, then the failure was another compile's.
bool DumpFileReader::CheckValues() {
  if (!compares_) return true;
  if (ValuesAgree(files_.memory, files_.text) || FindStale()) return true;
  // The live ranges are a third witness.
  if (HasRanges() && !RangesAgree(files_.memory) && RangesAgree(files_.memory, files_.text))
    return Refuse(std::string(kOther) + kNoNeed);
  Note(files_.text_path, std::string(kOther) + kNoChanges);
  files_.text = HloModule();
  compares_ = false;
  return true;
}

bool DumpFileReader::FindStale() {
  if (!files_.failed || paths_.optimized.empty()) return false;
  HloModule optimized = ReadText(paths_.optimized);
  if (!optimized.whole || optimized.entry < 0 || !ValuesAgree(files_.memory, optimized)) return false;
  Note(paths_.intermediate, "of another compile than the files beside it, which are of a program that did not fail");
  files_.failed = false;
  files_.text = std::move(optimized);
  files_.text_path = paths_.optimized;
  return true;
}

// Says what the text lacks to be worked with; source lines and names come from what there is of it.
void DumpFileReader::TakeText() {
  if (!work_out_ || compares_ || !files_.problem.what.empty()) return;
  if (files_.text_path.empty()) {
    Note(paths_.buffer_assignment, "the text of its module is not beside it: " + std::string(kNoChanges));
  } else if (IsDamaged(files_.text)) {
    Note(files_.text_path, std::string(kDamaged) + kNoChanges);
  }
}

void DumpFileReader::CheckRanges() {
  ModuleMemory& memory = files_.memory;
  if (paths_.live_range.empty()) {
    if (work_out_) Note(paths_.buffer_assignment, "no live ranges are beside it: " + std::string(kNoChanges));
    return;
  }
  if (HasRanges() && RangesAgree(memory) && (!compares_ || RangesAgree(memory, files_.text))) return;
  Note(paths_.live_range, std::string(HasRanges() ? kOther : kDamaged) + kNoChanges);
  DropRanges(&memory);
}

void DumpFileReader::CheckFailure() {
  if (!files_.failed || limit_bytes_ <= 0 || static_cast<double>(files_.memory.need_bytes) > kSurelyFits * limit_bytes_)
    return;
  Note(paths_.intermediate,
       "it is written where memory does not suffice, but the program of the files beside it fits: they are of another "
       "compile");
  files_.failed = false;
}

void DumpFileReader::ReadBefore() {
  if (paths_.before.empty() || IsTooLarge(files_.text)) return;
  files_.before = ReadText(paths_.before);
  if (IsDamaged(files_.before)) {
    Note(paths_.before, std::string(kDamaged) + kNoRoom);
  } else if (!ParametersAgree(files_.before, files_.text)) {
    Note(paths_.before, std::string(kOther) + kNoRoom);
  } else {
    return;
  }
  files_.before = HloModule();
  files_.before_refused = true;
}

}  // namespace

DumpFiles ReadDumpFiles(const DumpPaths& paths, const MemoryLimits& limits, double limit_bytes, bool work_out,
                        const Stop& stop) {
  return DumpFileReader(paths, limits, limit_bytes, work_out, stop).Read();
}

bool IsTooLarge(const HloModule& compiled) { return Dimensions::Count(compiled) > Dimensions::kMost; }

}  // namespace whyoom
