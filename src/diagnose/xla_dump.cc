#include "diagnose/xla_dump.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <future>
#include <optional>
#include <set>
#include <system_error>

#include "diagnose/dump_text.h"
#include "input/byte_source.h"
#include "program/hlo.h"
#include "program/memory.h"
#include "program/prospect.h"

namespace whyoom {
namespace {

// What is smaller than this explains nothing of a chip's HBM, and there is much of it.
constexpr std::int64_t kSmallest = std::int64_t{1} << 20;
// The program is laid out anew with smaller ones, too.
constexpr MemoryLimits kLimits = {std::int64_t{32} << 10, 400000};
constexpr std::size_t kMostRows = 1000;
// Of all results of a program; one of 150 layers that are no loop has two million. Reading it takes longer.
constexpr std::size_t kMostDimensions = 8000000;

struct FileName {
  std::string stem;    // "…/module_0000.jit_step.cl_1003875606"
  std::string module;  // "jit_step"
  std::string kind;    // "buffer-assignment"
};

std::optional<FileName> ParseName(const std::string& path) {
  static const re2::RE2 name(
      R"(((?:.*/)?module_\d+\.(.+?)(?:\.cl_\d+)?)\.(?:after_optimizations-(buffer-assignment|live-range)|(oom_intermediate_module|after_optimizations|before_optimizations|target_arguments|tpu_comp_env))\.txt)");
  FileName file;
  std::string other;
  if (!re2::RE2::FullMatch(path, name, &file.stem, &file.module, &file.kind, &other)) return std::nullopt;
  if (file.kind.empty()) file.kind = other;
  return file;
}

// Among values that share a place, the one that says most about itself.
bool SaysLess(const MemoryValue& value) {
  return !value.index.empty() || value.name.find("tuple") != std::string::npos ||
         value.name.find("while") != std::string::npos || value.name.rfind("wide.param", 0) == 0;
}

const char* KindName(AllocationKind kind) {
  switch (kind) {
    case AllocationKind::kArgument:
      return "parameter";
    case AllocationKind::kOutput:
      return "output";
    case AllocationKind::kConstant:
      return "constant";
    default:
      return "HLO temp";
  }
}

struct LiveValue {
  MemoryValue value;
  AllocationKind kind;
};

void Take(const MemoryAllocation& allocation, std::vector<LiveValue>* live) {
  if (allocation.kind == AllocationKind::kTemporaries) {
    for (const MemoryValue& value : LiveAtPeak(allocation)) live->push_back({value, allocation.kind});
    return;
  }
  // One value names the allocation; an argument's own name comes first in the file, an output's last.
  const MemoryValue* named = nullptr;
  for (const MemoryValue& value : allocation.values) {
    if (value.size == allocation.size && (named == nullptr || allocation.kind == AllocationKind::kOutput))
      named = &value;
  }
  if (named == nullptr && !allocation.values.empty()) named = &allocation.values.front();
  if (named == nullptr) return;
  live->push_back({*named, allocation.kind});
  live->back().value.size = allocation.size;
}

void Describe(const HloModule& module, int instruction, Allocation* row) {
  row->op_name = module.instructions[static_cast<std::size_t>(instruction)].op_name;
  const SourceLine source = UserLine(module, instruction);
  row->source_file = source.file;
  row->source_line = source.line;
  row->xla_label = InstructionLabel(module, instruction);
}

Allocation MakeRow(const LiveValue& live, const HloModule& module) {
  Allocation row;
  row.size_bytes = live.value.size;
  row.kind = KindName(live.kind);
  row.shape_text = live.value.shape;
  row.array = ParseArrayShape(live.value.shape);
  if (row.array) row.unpadded_bytes = UnpaddedBytes(*row.array);
  if (row.unpadded_bytes && *row.unpadded_bytes<live.value.size&& * row.unpadded_bytes> 0) {
    row.padding_bytes = live.value.size - *row.unpadded_bytes;
    row.padding_factor =
        std::round(10.0 * static_cast<double>(live.value.size) / static_cast<double>(*row.unpadded_bytes)) / 10.0;
  }
  row.xla_label = live.value.name;
  const int instruction = module.Find(live.value.name);
  if (instruction >= 0) Describe(module, instruction, &row);
  return row;
}

// A debug print or callback holds next to nothing itself; what it sends must be whole for it.
Allocation MakeTransferRow(const HloModule& module, int transfer) {
  Allocation row;
  row.size_bytes = 512;  // what the compiler's own reports print for a send
  row.kind = KindName(AllocationKind::kTemporaries);
  Describe(module, transfer, &row);
  return row;
}

std::vector<std::string> SourceFiles(const HloModule& module) {
  std::set<std::string> files;
  for (const SourceFrame& frame : module.frames) {
    if (!frame.file.empty()) files.emplace(frame.file);
  }
  return {files.begin(), files.end()};
}

void SetTotals(const std::vector<MemoryAllocation>& allocations, Evidence* facts) {
  double arguments = 0;
  double outputs = 0;
  double shared = 0;
  double temporaries = 0;
  for (const MemoryAllocation& allocation : allocations) {
    const auto size = static_cast<double>(allocation.size);
    if (allocation.kind == AllocationKind::kArgument) arguments += size;
    if (allocation.is_output) outputs += size;
    if (allocation.is_output && allocation.kind == AllocationKind::kArgument) shared += size;
    if (allocation.kind == AllocationKind::kTemporaries) temporaries += size;
  }
  facts->Set("arguments_bytes", arguments, {});
  facts->Set("output_bytes", outputs, {});
  facts->Set("shared_output_bytes", shared, {});
  facts->Set("hlo_temp_bytes", temporaries, {});
}

}  // namespace

bool XlaDump::IsDumpFile(const std::string& path) {
  // Much of a dump is of no use here; there is also a folder for each module.
  static const re2::RE2 name(R"((?:^|/)module_\d{4,}\.[^/]*\.cl_\d+[./][^/]*$)");
  return ParseName(path).has_value() || re2::RE2::PartialMatch(path, name);
}

void XlaDump::AddFile(const std::string& path, bool is_input) {
  const std::optional<FileName> file = ParseName(path);
  if (!file) return;
  Module& module = modules_[file->stem];
  module.name = file->module;
  if (file->kind == "buffer-assignment") module.buffer_assignment = path;
  if (file->kind == "live-range") module.live_range = path;
  if (file->kind == "oom_intermediate_module") module.intermediate = path;
  if (file->kind == "after_optimizations") module.optimized = path;
  if (file->kind == "before_optimizations") module.before = path;
  if (file->kind == "target_arguments") module.target = path;
  if (file->kind == "tpu_comp_env") module.environment = path;
  has_inputs_ = has_inputs_ || is_input;
  module.is_input = module.is_input || is_input;
}

const XlaDump::Module* XlaDump::Find(const std::string& name) const {
  // A job compiles a function again and again; only a compile that failed leaves the intermediate module, and the last
  // counts.
  const Module* found = nullptr;
  int failed = 0;
  for (const auto& [stem, module] : modules_) {
    if (module.intermediate.empty() || module.buffer_assignment.empty()) continue;
    if (!name.empty() && module.name != name) continue;
    found = &module;
    ++failed;
  }
  return name.empty() && failed > 1 ? nullptr : found;
}

bool XlaDump::Read(const std::string& name, double limit_bytes, Evidence* facts, std::vector<Allocation>* rows,
                   Prospects* prospects, std::vector<std::string>* sources, Problem* problem) const {
  const Module* module = Find(name);
  if (module == nullptr) {
    *problem = {name.empty() ? "XLA dump" : name, "",
                name.empty() ? "the log does not say which module of the dump failed"
                             : "the XLA dump holds no failed compile of this module"};
    return false;
  }
  if (!ReadModule(*module, limit_bytes, facts, rows, prospects, sources, problem)) return false;
  if (name.empty()) facts->Set("module", module->name, {});
  return true;
}

bool XlaDump::ReadModule(const Module& module, double limit_bytes, Evidence* facts, std::vector<Allocation>* rows,
                         Prospects* prospects, std::vector<std::string>* sources, Problem* problem) {
  const std::unique_ptr<ByteSource> assignment = OpenFile(module.buffer_assignment);
  const std::unique_ptr<ByteSource> ranges = module.live_range.empty() ? nullptr : OpenFile(module.live_range);
  // Beside the module, which takes longer; what comes of both does not depend on which is done first.
  std::future<ModuleMemory> reading = std::async(std::launch::async | std::launch::deferred,
                                                 [&] { return ReadMemory(*assignment, ranges.get(), kLimits); });
  const std::string& text_file = module.intermediate.empty() ? module.optimized : module.intermediate;
  HloModule text = text_file.empty() ? HloModule() : ReadHlo(*OpenFile(text_file));
  ModuleMemory memory = reading.get();
  if (!assignment->problem().empty() || memory.allocations.empty()) {
    *problem = {module.buffer_assignment, "",
                assignment->problem().empty() ? "it holds no buffer assignment" : std::string(assignment->problem())};
    return false;
  }
  std::vector<LiveValue> live;
  for (MemoryAllocation allocation : memory.allocations) {
    std::erase_if(allocation.values,
                  [&](const MemoryValue& value) { return value.size < kSmallest && value.size != allocation.size; });
    std::stable_partition(allocation.values.begin(), allocation.values.end(),
                          [](const MemoryValue& value) { return !SaysLess(value); });
    Take(allocation, &live);
  }
  std::stable_sort(live.begin(), live.end(),
                   [](const LiveValue& a, const LiveValue& b) { return a.value.size > b.value.size; });
  if (live.size() > kMostRows) live.resize(kMostRows);
  if (sources != nullptr) *sources = SourceFiles(text);
  for (const LiveValue& value : live) rows->push_back(MakeRow(value, text));
  for (const int transfer : HostTransfers(text)) rows->push_back(MakeTransferRow(text, transfer));
  for (std::size_t i = 0; i < rows->size(); ++i) (*rows)[i].rank = static_cast<int>(i) + 1;
  SetTotals(memory.allocations, facts);
  facts->Set("program_need_bytes", static_cast<double>(memory.need_bytes), {});
  facts->Set("dump", module.buffer_assignment, {});
  facts->Set("listed", static_cast<double>(rows->size()), {});
  facts->Set("list_seen", true, {});
  if (prospects != nullptr && memory.schedule_length > 0 && text.entry >= 0) {
    const Problem too_large = {text_file, "",
                               "the program is too large for it to be worked out what each remedy would leave"};
    if (Dimensions::Count(text) > kMostDimensions) {
      *problem = too_large;
      return true;
    }
    HloModule before = module.before.empty() ? HloModule() : ReadHlo(*OpenFile(module.before));
    const Program program(std::move(text), std::move(before), std::move(memory));
    const auto limit = static_cast<std::int64_t>(limit_bytes);
    *prospects = module.intermediate.empty() ? LookAt(program, limit) : LookAhead(program, limit);
    if (prospects->changes.empty() && prospects->memory.empty()) *problem = too_large;
  }
  return true;
}

const XlaDump::Module* XlaDump::FindAny(const std::string& name) const {
  const auto belongs = [&](const Module& module) {
    return !module.buffer_assignment.empty() && (name.empty() || module.name == name);
  };
  const bool any_failed = std::any_of(modules_.begin(), modules_.end(), [&](const auto& entry) {
    return belongs(entry.second) && !entry.second.intermediate.empty();
  });
  const Module* found = nullptr;
  std::int64_t most = -1;
  for (const auto& [stem, module] : modules_) {
    if (!belongs(module) || (any_failed && module.intermediate.empty())) continue;
    const std::int64_t takes = ReadMemory(*OpenFile(module.buffer_assignment), nullptr, kLimits).need_bytes;
    if (takes < most) continue;  // of equal ones the last compile counts
    most = takes;
    found = &module;
  }
  return found == nullptr && !name.empty() ? FindAny("") : found;
}

bool XlaDump::ReadAny(const std::string& name, bool* failed, Evidence* facts, std::vector<Allocation>* rows,
                      Problem* problem) const {
  const Module* module = FindAny(name);
  if (module == nullptr) {
    *problem = {"XLA dump", "", "it holds no buffer assignment of any module"};
    return false;
  }
  if (!ReadModule(*module, 0, facts, rows, nullptr, nullptr, problem)) return false;
  *failed = !module->intermediate.empty();
  facts->Set("module", module->name, {});
  const ModuleMemory memory = ReadMemory(*OpenFile(module->buffer_assignment), nullptr, kLimits);
  facts->Set("need_bytes", static_cast<double>(memory.need_bytes), {});
  facts->Set("host_bytes", static_cast<double>(memory.host_bytes), {});
  return true;
}

std::unique_ptr<Written> XlaDump::ReadWritten(const std::string& buffer_assignment) const {
  for (const auto& [stem, module] : modules_) {
    if (module.buffer_assignment != buffer_assignment || buffer_assignment.empty()) continue;
    const std::string& path = !module.before.empty()         ? module.before
                              : !module.intermediate.empty() ? module.intermediate
                                                             : module.optimized;
    if (path.empty()) return nullptr;
    HloModule text = ReadHlo(*OpenFile(path));
    return text.entry < 0 ? nullptr : std::make_unique<Written>(std::move(text));
  }
  return nullptr;
}

std::vector<XlaDump::Given> XlaDump::GivenModules() const {
  std::vector<Given> given;
  for (const auto& [stem, module] : modules_) {
    if (!module.is_input || module.buffer_assignment.empty()) continue;
    const bool failed = !module.intermediate.empty();
    const std::size_t slash = stem.rfind('/');
    given.push_back({stem, slash == std::string::npos ? "" : stem.substr(0, slash), module.name, failed,
                     failed ? module.intermediate : module.buffer_assignment, module.target, module.environment, 0});
    for (const std::string* path : {&module.buffer_assignment, &module.live_range, &module.before,
                                    failed ? &module.intermediate : &module.optimized}) {
      std::error_code error;
      const auto size = path->empty() ? 0 : std::filesystem::file_size(*path, error);
      if (!error) given.back().bytes += size;
    }
  }
  return given;
}

std::int64_t XlaDump::NeedOf(const Given& module) const {
  return ReadMemory(*OpenFile(modules_.at(module.key).buffer_assignment), nullptr, kLimits).need_bytes;
}

bool XlaDump::ReadGiven(const Given& given, double limit_bytes, Evidence* facts, std::vector<Allocation>* rows,
                        Prospects* prospects, std::vector<std::string>* sources, Problem* problem) const {
  if (!ReadModule(modules_.at(given.key), limit_bytes, facts, rows, prospects, sources, problem)) return false;
  facts->Set("module", given.name, {});
  return true;
}

}  // namespace whyoom
