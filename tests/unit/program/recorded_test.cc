// Records what is derived from the dumps in testdata: parameters, values, axes, loops, and the effect of each remedy,
// by name and size. tests/golden/advice_test.cc compares the estimates with a compiler's results; this test also
// detects changes that no report shows. To record the results again after a change:
//
//     WHYOOM_BLESS=1 build/release/tests/whyoom_tests "[program]" && git diff testdata/program.txt
#include "recorded.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "process.h"
#include "program/dump_files.h"
#include "program/remedies.h"
#include "text/quantity.h"

using namespace whyoom;

namespace TEST_FILE {

namespace fs = std::filesystem;

constexpr std::int64_t kLimit = std::int64_t{63} << 28;  // 15.75 GiB

constexpr std::size_t kShown = 6;  // values shown per list; the totals cover all

std::string Size(std::int64_t bytes) { return FormatSize(bytes); }
std::string Exact(std::int64_t bytes) { return fmt::format("{} ({})", bytes, FormatSize(bytes)); }

constexpr const char* kRoles[] = {"weights", "optimizer state", "input", "cache", "other"};
constexpr const char* kKinds[] = {"weights",     "gathered weights", "optimizer state",  "gradients",
                                  "activations", "logits",           "attention scores", "temporaries",
                                  "inputs",      "constants",        "unknown"};

// "f32[64 batch,2048]"
std::string ShapeText(const Semantics& semantics, const ArrayShape& shape, const ArrayGroups& dimensions) {
  std::string text = shape.dtype + "[";
  for (std::size_t dim = 0; dim < shape.dims.size(); ++dim) {
    text += fmt::format("{}{}", dim > 0 ? "," : "", shape.dims[dim]);
    for (const auto& [name, axis] : {std::pair(" batch", semantics.batch), std::pair(" sequence", semantics.sequence),
                                     std::pair(" vocabulary", semantics.vocabulary)}) {
      if (axis && Contains(dimensions[dim], axis.groups)) text += name;
    }
  }
  return text + "]";
}

// "while.5 #2 f32[24,64 batch,2048]"
std::string NameOf(const Program& program, const Semantics& semantics, ValueId id) {
  const ProgramValue& value = program.values[id];
  if (!value.array.instruction) return "not in the module";
  const std::string name(program.InstructionOf(value).name);
  if (!value.array) return name + " pointers";
  const std::string part = value.array.leaf > 0 ? fmt::format(" #{}", value.array.leaf) : "";
  return fmt::format("{}{} {}", name, part, ShapeText(semantics, program.ShapeOf(value.array), semantics.GroupsOf(id)));
}

// The files of a folder's modules, by the common prefix of their names.
std::map<std::string, DumpPaths> ModulesIn(const fs::path& folder) {
  const std::vector<std::pair<std::string, std::string DumpPaths::*>> kinds = {
      {".after_optimizations-buffer-assignment.txt", &DumpPaths::assignment},
      {".after_optimizations-live-range.txt", &DumpPaths::live_range},
      {".oom_intermediate_module.txt", &DumpPaths::intermediate},
      {".after_optimizations.txt", &DumpPaths::optimized},
      {".before_optimizations.txt", &DumpPaths::before}};
  std::map<std::string, DumpPaths> modules;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    for (const auto& [ending, path] : kinds) {
      if (name.ends_with(ending)) modules[name.substr(0, name.size() - ending.size())].*path = entry.path().string();
    }
  }
  return modules;
}

std::string ParametersText(const Program& program, const Semantics& semantics) {
  std::string text = fmt::format("  parameters: {}\n", program.parameters.size());
  for (const ProgramParameter& parameter : program.parameters) {
    if (parameter.size < 1 << 20 && program.parameters.size() > 2 * kShown) continue;
    text += fmt::format("    {} {} {}, {}{}{}\n", parameter.path,
                        ShapeText(semantics, program.ShapeOf(parameter.array), semantics.GroupsOf(parameter)),
                        Size(parameter.size), kRoles[static_cast<int>(semantics.RoleOf(parameter))],
                        parameter.IsSplit() ? fmt::format(", split {}", parameter.shards) : "",
                        parameter.shares_output ? ", donated" : "");
  }
  return text;
}

std::string ValuesText(const Program& program, const Semantics& semantics) {
  std::map<int, std::int64_t> kinds;
  std::vector<ValueId> largest;
  for (const ValueId id : program.values.ids()) {
    kinds[static_cast<int>(semantics.KindOf(id))] += program.values[id].size;
    if (!program.AllocationOf(program.values[id]).IsFixed()) largest.push_back(id);
  }
  std::string text = fmt::format("  values: {}\n", program.values.size());
  for (const auto& [kind, bytes] : kinds) text += fmt::format("    {} {}\n", kKinds[kind], Exact(bytes));
  std::stable_sort(largest.begin(), largest.end(),
                   [&](ValueId a, ValueId b) { return program.values[a].size > program.values[b].size; });
  if (largest.size() > kShown) largest.resize(kShown);
  for (const ValueId id : largest) {
    const ProgramValue& value = program.values[id];
    text += fmt::format("    {} {}, {}, live {} to {}\n", NameOf(program, semantics, id), Size(value.size),
                        kKinds[static_cast<int>(semantics.KindOf(id))], value.first, value.last);
  }
  return text;
}

std::string InstructionsText(const Program& program, const Semantics& semantics) {
  int forward = 0;
  int backward = 0;
  for (const InstructionId id : program.module.instructions.ids()) {
    forward += semantics.IsForward(id) ? 1 : 0;
    backward += semantics.IsBackward(id) ? 1 : 0;
  }
  std::string text =
      fmt::format("  instructions: {}, {} forward, {} backward, {} products\n", program.module.instructions.size(),
                  forward, backward, program.dimensions.products.size());
  for (const Loop& loop : program.dimensions.loops)
    text += fmt::format("    loop {} of {} steps{}\n", program.At(loop.instruction).name, loop.steps,
                        loop.factor ? ", with stacks" : "");
  for (const auto& [name, axis] : {std::pair("batch", semantics.batch), std::pair("sequence", semantics.sequence),
                                   std::pair("vocabulary", semantics.vocabulary)}) {
    if (!axis) continue;
    std::int64_t bytes = 0;
    for (const ProgramValue& value : program.values) bytes += semantics.Has(value.id, axis) ? value.size : 0;
    text += fmt::format("  {} {}, in values of {}\n", name, axis.size, Exact(bytes));
  }
  return text;
}

// The effect of a remedy: changed values, largest changes first, and added buffers.
std::string RemedyText(const Simulator& simulator, const ModifiedProgram& modified) {
  const Program& program = simulator.program;
  const Semantics& semantics = simulator.semantics;
  std::vector<ValueId> changed;
  std::int64_t before = 0;
  std::int64_t after = 0;
  for (const ProgramValue& value : program.values) {
    if (modified.sizes[value.id] == value.size) continue;
    changed.push_back(value.id);
    before += value.size;
    after += modified.sizes[value.id];
  }
  const auto saved = [&](ValueId id) { return program.values[id].size - modified.sizes[id]; };
  std::stable_sort(changed.begin(), changed.end(), [&](ValueId a, ValueId b) { return saved(a) > saved(b); });
  std::string text;
  if (!changed.empty()) text += fmt::format("    {} values: {} -> {}\n", changed.size(), Exact(before), Exact(after));
  for (std::size_t i = 0; i < std::min(changed.size(), kShown / 2); ++i) {
    text += fmt::format("      {} {} -> {}\n", NameOf(program, semantics, changed[i]),
                        Size(program.values[changed[i]].size), Size(modified.sizes[changed[i]]));
  }
  std::int64_t bytes = 0;
  for (const Buffer& buffer : modified.added) bytes += buffer.size;
  if (!modified.added.empty()) text += fmt::format("    {} buffers added: {}\n", modified.added.size(), Exact(bytes));
  for (std::size_t i = 0; i < std::min(modified.added.size(), kShown / 2); ++i) {
    const Buffer& buffer = modified.added[i];
    text += fmt::format("      {} from {} to {}, for {}\n", Size(buffer.size), buffer.first, buffer.last,
                        buffer.values.empty() ? "nothing" : NameOf(program, semantics, buffer.values.front()));
  }
  return text;
}

std::string RemediesText(const Program& program, const Semantics& semantics) {
  const Simulator simulator{program, semantics, kLimit};
  std::string text = fmt::format("  needs {}{}\n", Exact(simulator.need_bytes), simulator.whole ? "" : ", too large");
  for (const ProgramRemedy& remedy : kRemedies) {
    const std::optional<ModifiedProgram> modified = remedy.apply(simulator);
    if (!modified) continue;
    const Effect estimate = simulator.EstimateOf(*modified);
    text += fmt::format("  {} leaves {}", remedy.name, Exact(estimate.left_bytes));
    if (estimate.spread_bytes > 0) text += fmt::format(" ± {}", estimate.spread_bytes);
    if (modified->parts > 0) text += fmt::format(", {} parts", modified->parts);
    if (modified->more > 0) text += fmt::format(", {} throughout", Size(modified->more));
    if (!modified->ruled_out.empty()) text += fmt::format(", ruled out: {}", modified->ruled_out);
    if (modified->of_state) text += ", of weights and state";
    text += "\n" + RemedyText(simulator, *modified);
  }
  if (const Axis batch = semantics.batch) {
    const ModifiedProgram longer = *Resize(simulator, batch, batch.size * 3 / 2);
    text += fmt::format("  half as much batch again leaves {}\n", Exact(simulator.EstimateOf(longer).left_bytes));
  }
  return text;
}

// Reverses the numbers of the entry computation's parameters: "parameter(0)" in modules, "(0, {}, may-alias)" in their
// headers, "parameter 0, shape" in assignments.
std::string Renumbered(std::string text) {
  const std::size_t entry = text.starts_with("HloModule") ? text.find("\nENTRY ") : 0;
  const std::string_view called = entry == 0 ? " parameter " : " parameter(";
  std::vector<std::size_t> at;  // positions of the numbers
  int most = -1;
  const auto figure = [&](std::size_t begin) { return std::atoi(text.c_str() + begin); };
  for (std::size_t i = text.find(called, std::min(entry, text.size())); i != text.npos; i = text.find(called, i + 1)) {
    at.push_back(i + called.size());
    most = std::max(most, figure(at.back()));
  }
  const std::size_t head = text.starts_with("HloModule") ? text.find('\n') : 0;
  for (const std::string_view name : {"input_output_alias={", "buffer_donor={"}) {
    const std::size_t begin = text.find(name);
    if (begin >= head) continue;
    for (std::size_t i = text.find('(', begin); i < text.find(" }", begin); i = text.find('(', i + 1))
      at.push_back(i + 1);
  }
  std::sort(at.rbegin(), at.rend());  // from the end, so positions stay valid
  for (const std::size_t i : at)
    text.replace(i, text.find_first_not_of("0123456789", i) - i, std::to_string(most - figure(i)));
  return text;
}

// Removes the user's names: op_name="jit(step)/mlp/dot_general".
std::string WithoutNames(std::string text) {
  const std::string_view name = "op_name=\"";
  for (std::size_t i = text.find(name); i != text.npos; i = text.find(name, i)) {
    std::size_t end = i + name.size();
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    text.erase(i, end + 1 - i);
  }
  return text;
}

// Writes the changed files to the folder.
DumpPaths Changed(const DumpPaths& paths, std::string (*change)(std::string), const ScratchFolder& folder) {
  DumpPaths changed;
  for (const auto path : {&DumpPaths::assignment, &DumpPaths::live_range, &DumpPaths::intermediate,
                          &DumpPaths::optimized, &DumpPaths::before}) {
    if (!(paths.*path).empty())
      changed.*path = folder.Write(fs::path(paths.*path).filename().string(), change(ReadText(paths.*path)));
  }
  return changed;
}

std::string TextOf(const DumpPaths& paths) {
  DumpFiles files = ReadDumpFiles(paths, kLimit, true, Stop());
  std::string text =
      fmt::format("  {}{}{}, text {}\n", files.usable ? "usable" : "not usable", files.failed ? ", failed" : "",
                  files.whole ? ", whole" : "", fs::path(files.text_path).filename().string());
  if (!files.usable || files.text.instructions.empty()) return text;
  MemoryMoment peak;
  for (const MemoryMoment& moment : TimelineOf(files.memory)) peak = moment.bytes > peak.bytes ? moment : peak;
  text += fmt::format("  compiled need {}, host {}, peak {} at {:.1f} % of the schedule\n",
                      Exact(files.memory.need_bytes), files.memory.host_bytes, Exact(peak.bytes), 100 * peak.at);
  const Program program(std::move(files.text), std::move(files.before), std::move(files.memory));
  const Semantics semantics = FindSemantics(program, BuiltInRules().role_words);
  text += fmt::format("  {}{}{}{}\n", semantics.trains ? "trains" : "does not train",
                      semantics.has_attention() ? ", has attention" : "",
                      program.partitions > 1 ? fmt::format(", {} partitions", program.partitions) : "",
                      semantics.has_examples() ? ", has examples" : "");
  return text + ParametersText(program, semantics) + ValuesText(program, semantics) +
         InstructionsText(program, semantics) + RemediesText(program, semantics);
}

// The lines of `text` that `base` lacks, or "  the same".
std::string Difference(const std::string& text, const std::string& base) {
  const auto lines = [](const std::string& of) {
    std::multiset<std::string> set;
    std::istringstream stream(of);
    for (std::string line; std::getline(stream, line);) set.insert(line);
    return set;
  };
  std::multiset<std::string> known = lines(base);
  std::string different;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    const auto found = known.find(line);
    if (found == known.end()) {
      different += line + "\n";
    } else {
      known.erase(found);
    }
  }
  for (const std::string& line : known) different += "  without: " + line + "\n";
  return different.empty() ? "  the same\n" : different;
}

TEST_CASE("the results derived from each dump are as recorded", "[program]") {
  const fs::path root = fs::path(WHYOOM_SOURCE_DIR) / "testdata";
  std::string text;
  for (const char* kind : {"advice", "cases", "programs"}) {
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(root / kind)) {
      if (fs::exists(entry.path() / "dump")) folders.push_back(entry.path());
    }
    std::sort(folders.begin(), folders.end());
    for (const fs::path& folder : folders) {
      for (const auto& [name, paths] : ModulesIn(folder / "dump")) {
        const ScratchFolder scratch;
        const std::string of = fmt::format("{}/{} {}", kind, folder.filename().string(), name);
        const std::string base = TextOf(paths);
        text += fmt::format("== {}\n{}", of, base);
        text += fmt::format("== {}, parameters in reverse order\n{}", of,
                            Difference(TextOf(Changed(paths, Renumbered, scratch)), base));
        text += fmt::format("== {}, without names\n{}", of,
                            Difference(TextOf(Changed(paths, WithoutNames, scratch)), base));
      }
    }
  }
  CheckRecorded((root / "program.txt").string(), text);
}

}  // namespace TEST_FILE
