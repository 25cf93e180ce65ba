#include "program/xla_dump.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <system_error>

#include "input/byte_source.h"
#include "program/dump_files.h"
#include "program/remedies.h"
#include "text/quantity.h"
#include "text/regex_options.h"

namespace whyoom {
namespace {

// Smaller values are numerous but hardly matter compared with a chip's HBM.
constexpr std::int64_t kSmallestRow = std::int64_t{1} << 20;
constexpr std::size_t kMostRows = 1000;
constexpr std::size_t kMostCompiles = 1000;  // last compiles of a name that are searched for a log's figure

struct FileName {
  std::string stem;  // "…/module_0000.jit_step.cl_1003875606"
  std::uint64_t number = 0;
  std::string module;  // "jit_step"
  std::string DumpPaths::*kind = nullptr;
};

std::optional<FileName> ParseName(const std::string& path) {
  static const std::map<std::string, std::string DumpPaths::*> kKinds = {
      {"after_optimizations-buffer-assignment", &DumpPaths::assignment},
      {"after_optimizations-live-range", &DumpPaths::live_range},
      {"oom_intermediate_module", &DumpPaths::intermediate},
      {"after_optimizations", &DumpPaths::optimized},
      {"before_optimizations", &DumpPaths::before},
      {"target_arguments", &DumpPaths::target},
      {"tpu_comp_env", &DumpPaths::environment}};
  static const Regex name(R"((?s)((?:.*/)?module_(\d+)\.(.+?)(?:\.cl_\d+)?)\.([\w-]+)\.txt)");
  FileName file;
  std::string kind;
  if (!re2::RE2::FullMatch(path, name, &file.stem, &file.number, &file.module, &kind)) return std::nullopt;
  const auto found = kKinds.find(kind);
  if (found == kKinds.end()) return std::nullopt;
  file.kind = found->second;
  return file;
}

// Whether the compiler made up the value's name. If so, other values of the same buffer are shown instead.
bool HasMadeUpName(const MemoryValue& value) {
  return !value.index.empty() || value.name.find("tuple") != std::string::npos ||
         value.name.find("while") != std::string::npos || value.name.rfind("wide.param", 0) == 0;
}

constexpr const char* kRowKinds[] = {"HLO temp", "parameter", "output", "constant"};  // by AllocationKind

// Chooses the value that names an allocation: the first that spans it (the last for an output), or else the first one.
const MemoryValue* NamingValue(const MemoryAllocation& allocation) {
  const MemoryValue* named = nullptr;
  for (const MemoryValue& value : allocation.values) {
    if (value.size == allocation.size && (named == nullptr || allocation.kind == AllocationKind::kOutput))
      named = &value;
  }
  return named != nullptr || allocation.values.empty() ? named : &allocation.values.front();
}

void Describe(const HloModule& module, InstructionId instruction, Allocation* row) {
  row->op_name = module.instructions[instruction].op_name;
  const SourceLine source = UserLine(module, instruction);
  row->source_file = source.file;
  row->source_line = source.line;
  row->xla_label = InstructionLabel(module, instruction);
}

std::vector<std::string> SourceFiles(const HloModule& module) {
  std::set<std::string> files;
  for (const SourceFrame& frame : module.frames) {
    if (!frame.file.empty()) files.emplace(frame.file);
  }
  return {files.begin(), files.end()};
}

void SetTotals(const Indexed<AllocationId, MemoryAllocation>& allocations, Evidence* facts) {
  const auto set = [&](const char* fact, bool (*counts)(const MemoryAllocation&)) {
    double bytes = 0;
    for (const MemoryAllocation& one : allocations) bytes += counts(one) ? static_cast<double>(one.size) : 0;
    facts->Set(fact, bytes, {});
  };
  using One = MemoryAllocation;
  set("arguments_bytes", [](const One& one) { return one.kind == AllocationKind::kArgument; });
  set("output_bytes", [](const One& one) { return one.is_output; });
  set("shared_output_bytes", [](const One& one) { return one.is_output && one.kind == AllocationKind::kArgument; });
  set("hlo_temp_bytes", [](const One& one) { return one.kind == AllocationKind::kTemporaries; });
}

// The values that are live at the peak, largest first, then transfers to the host.
std::vector<Allocation> MakeRows(const DumpFiles& files) {
  std::vector<std::pair<MemoryValue, AllocationKind>> values;
  const std::int64_t peak = PeakOf(files.memory).moment;
  for (MemoryAllocation allocation : files.memory.allocations) {
    std::erase_if(allocation.values,
                  [&](const MemoryValue& value) { return value.size < kSmallestRow && value.size != allocation.size; });
    std::stable_partition(allocation.values.begin(), allocation.values.end(),
                          [](const MemoryValue& value) { return !HasMadeUpName(value); });
    if (allocation.kind == AllocationKind::kTemporaries) {
      for (const MemoryValue& value : LiveAt(allocation, peak)) values.emplace_back(value, allocation.kind);
    } else if (const MemoryValue* value = NamingValue(allocation)) {
      values.emplace_back(*value, allocation.kind);
      values.back().first.size = allocation.size;
    }
  }
  std::ranges::stable_sort(values, [](const auto& a, const auto& b) { return a.first.size > b.first.size; });
  if (values.size() > kMostRows) values.resize(kMostRows);
  std::vector<Allocation> rows;
  for (const auto& [value, kind] : values) {
    Allocation& row = rows.emplace_back(RowOfArray(value.size, value.shape));
    row.kind = kRowKinds[static_cast<int>(kind)];
    row.xla_label = value.name;
    if (const InstructionId instruction = files.text.Find(value.name)) Describe(files.text, instruction, &row);
  }
  // A debug print or callback needs hardly any memory itself, but the array that it sends must be in memory as a whole.
  for (const InstructionId transfer : HostTransfers(files.text)) {
    Allocation& row = rows.emplace_back();
    row.size_bytes = 512;  // the size of a send in the compiler's reports
    row.kind = kRowKinds[static_cast<int>(AllocationKind::kTemporaries)];
    Describe(files.text, transfer, &row);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].rank = static_cast<int>(i) + 1;
  for (Allocation& row : rows) TruncateTexts(&row);
  return rows;
}

// Sets `problem` if the result is empty.
ProgramEstimates Simulate(DumpFiles files, const RoleWords& role_words, double limit_bytes, const Stop& stop,
                          Problem* problem) {
  const Problem too_large = {files.text_path, "", "the program is too large to estimate the effect of remedies", true};
  if (files.text.over_limit) *problem = too_large;
  if (!files.whole) return {};
  const Program program(std::move(files.text), std::move(files.before), std::move(files.memory));
  ProgramEstimates estimates = EstimateProgram(program, role_words, static_cast<std::int64_t>(limit_bytes),
                                               files.failed ? WithRemedies::kYes : WithRemedies::kNo, stop);
  if (stop.IsRequested()) {
    *problem = {files.text_path, "", stop.Why() + ": " + kCannotEstimate};
    return {};
  }
  if (files.before_rejected) estimates.room = {};  // `room` would need the sizes before partitioning
  if (estimates.changes.empty() && estimates.memory.empty()) *problem = too_large;
  return estimates;
}

// Logs round the need: "20.42G".
bool AreSameNeed(double need, double used) { return std::abs(need - used) <= 0.01 * used; }

}  // namespace

// Reads each file once, since many failures of a log may need the same modules.
const XlaDump::Need& XlaDump::NeedOf(const Module& module) const {
  const auto [entry, is_new] = needs_.try_emplace(module.assignment);
  Need& need = entry->second;
  if (!is_new) return need;
  const Stop stop(control_, limits_);
  const std::unique_ptr<ByteSource> source = OpenFile(module.assignment, &stop);
  need.bytes = ReadMemory(*source, nullptr, kMemoryLimits).need_bytes;
  const std::string problem(source->problem().empty() ? kNoBufferAssignment : source->problem());
  if (stop.IsRequested()) need = {0, {module.assignment, "", stop.Why() + ": " + kNeedUnknown}};
  if (need.bytes <= 0 && !stop.IsRequested()) need = {0, {module.assignment, "", problem}};
  return need;
}

bool XlaDump::IsDumpFile(const std::string& path) {
  if (path.find("module_") == std::string::npos) return false;  // quick check that rejects nearly all files
  // Most files of a dump are not read. Some dumps have a folder for each module.
  static const Regex name(R"((?:^|/)module_\d{4,}\.[^/]*\.cl_\d+[./][^/]*$)");
  return ParseName(path).has_value() || re2::RE2::PartialMatch(path, name);
}

void XlaDump::MarkAsInputs() {
  for (auto& [stem, module] : modules_) module.is_input = true;
}

bool XlaDump::AddFile(const std::string& path, bool is_input) {
  std::error_code error;
  if (!IsDumpFile(path) || !std::filesystem::is_regular_file(path, error)) return false;
  const std::optional<FileName> file = ParseName(path);
  if (!file) return true;
  Module& module = modules_[file->stem];
  module.folder = std::filesystem::path(path).parent_path().string();
  module.name = file->module;
  module.number = file->number;
  module.*file->kind = path;
  module.failed = !module.intermediate.empty();
  module.is_input = module.is_input || is_input;
  return true;
}

// The compiles of this name (all if it is empty) with a buffer assignment: those that failed, or all.
std::vector<const XlaDump::Module*> XlaDump::Compiles(const std::string& name, bool failed) const {
  std::vector<const Module*> compiles;
  for (const auto& [stem, module] : modules_) {
    if (module.assignment.empty() || (failed && !module.failed)) continue;
    if (name.empty() || module.name == name) compiles.push_back(&module);
  }
  return compiles;
}

// A job may compile a function repeatedly, and only a failed compile leaves the intermediate module. Chooses the last
// failed compile whose need matches the log's figure. If none does, chooses the last one of the name, or the only one.
const XlaDump::Module* XlaDump::Find(const std::string& name, std::optional<double> used) const {
  std::vector<const Module*> failed = Compiles(name, true);
  std::ranges::stable_sort(failed, std::ranges::greater(), &Module::number);
  const Module* last = failed.empty() || (name.empty() && failed.size() > 1) ? nullptr : failed.front();
  if (failed.size() < 2 || !used) return last;
  failed.resize(std::min(failed.size(), kMostCompiles));
  const auto matches = [&](const Module* module) {
    return AreSameNeed(static_cast<double>(NeedOf(*module).bytes), *used);
  };
  const auto found = std::ranges::find_if(failed, matches);
  if (found == failed.end()) return last;
  const bool is_unclear = name.empty() && std::any_of(std::next(found), failed.end(), matches);
  return is_unclear ? nullptr : *found;
}

std::optional<DumpReading> XlaDump::Read(const std::string& name, const RoleWords& role_words,
                                         std::optional<double> used, double limit_bytes, Problem* problem) const {
  const Module* module = Find(name, used);
  if (module == nullptr) {
    *problem = {name, "", "the XLA dump contains no failed compile of this module"};
    if (name.empty())
      *problem = {"XLA dump", "",
                  "the log does not name the module that failed; to see all failed modules, run whyoom on the dump's "
                  "folder alone"};
    for (const auto& [stem, one] : modules_) {
      if (one.failed && one.assignment.empty() && (name.empty() || one.name == name))
        *problem = {one.intermediate, "", kNoAssignment};
    }
    return std::nullopt;
  }
  std::optional<DumpReading> reading = ReadModule(*module, &role_words, limit_bytes, problem);
  if (!reading) return std::nullopt;
  const double need = reading->facts.Number("program_need_bytes").value_or(0);
  if (reading->failed && (!used || AreSameNeed(need, *used))) return reading;
  *problem = {module->assignment, "",
              "from another compile than the log's (it needs " + FormatSize(static_cast<std::int64_t>(need)) +
                  "); to diagnose it, run whyoom on the dump's folder alone"};
  return std::nullopt;
}

std::optional<DumpReading> XlaDump::ReadModule(const Module& module, const RoleWords* role_words, double limit_bytes,
                                               Problem* problem) const {
  const Stop stop(control_, limits_);
  DumpFiles files = ReadDumpFiles(module, limit_bytes, role_words != nullptr, stop);
  *problem = std::move(files.problem);
  if (!files.usable) return std::nullopt;
  needs_.try_emplace(module.assignment, Need{files.memory.need_bytes, {}});
  files.failed = files.failed || IsTooMuch(files.memory.need_bytes);
  DumpReading reading;
  reading.failed = files.failed;
  reading.host_bytes = files.memory.host_bytes;
  reading.rows = MakeRows(files);
  SetTotals(files.memory.allocations, &reading.facts);
  reading.facts.Set("program_need_bytes", static_cast<double>(files.memory.need_bytes), {});
  reading.facts.Set("module", module.name, {});
  reading.facts.Set("dump", module.assignment, {});
  reading.facts.Set("listed", static_cast<double>(reading.rows.size()), {});
  reading.facts.Set("list_seen", true, {});
  if (role_words == nullptr) return reading;
  reading.sources = SourceFiles(files.text);
  reading.estimates = Simulate(std::move(files), *role_words, limit_bytes, stop, problem);
  reading.facts.Add(reading.estimates.signs);
  if (!reading.estimates.memory.empty()) {
    const MemoryPart& largest = reading.estimates.memory.front();
    std::string kind = largest.kind;
    std::ranges::replace(kind, '_', ' ');
    reading.facts.Set("main_kind", kind, {});
    reading.facts.Set("main_kind_bytes", static_cast<double>(largest.bytes), {});
  }
  return reading;
}

std::optional<DumpReading> XlaDump::ReadAny(const std::string& name, Problem* problem) const {
  std::vector<const Module*> compiles = Compiles(name, true);
  if (compiles.empty()) compiles = Compiles(name, false);
  if (compiles.empty()) compiles = Compiles("", true);
  if (compiles.empty()) compiles = Compiles("", false);
  const auto rank = [&](const Module* module) { return std::pair(NeedOf(*module).bytes, module->number); };
  const auto most = std::ranges::max_element(compiles, {}, rank);  // of those that need most, the last compile
  if (most == compiles.end()) {
    *problem = {"XLA dump", "", "no module in it has a buffer assignment"};
    return std::nullopt;
  }
  std::optional<DumpReading> reading = ReadModule(**most, nullptr, 0, problem);
  if (!reading) return std::nullopt;
  reading->facts.Set("need_bytes", reading->facts.Get("program_need_bytes"), {});
  reading->facts.Set("host_bytes", static_cast<double>(reading->host_bytes), {});
  return reading;
}

std::vector<XlaDump::Module> XlaDump::InputModules() const {
  std::vector<Module> given;
  for (auto [stem, module] : modules_) {
    module.path = module.failed               ? module.intermediate
                  : module.assignment.empty() ? module.optimized
                                              : module.assignment;
    // A compile that stopped early leaves only the unoptimized module.
    if (!module.is_input || module.path.empty()) continue;
    for (const std::string& path : {module.assignment, module.live_range, module.before,
                                    module.failed ? module.intermediate : module.optimized}) {
      std::error_code error;
      const auto size = path.empty() ? 0 : std::filesystem::file_size(path, error);
      if (!error) module.bytes += size;
    }
    module.failed = module.failed || (fails_above_ > 0 && IsTooMuch(NeedOf(module).bytes));
    given.push_back(std::move(module));
  }
  return given;
}

}  // namespace whyoom
