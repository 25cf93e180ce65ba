// What is worked out of the dumps in testdata, part by part: parameters and values with their roles and dimensions,
// axes, the timeline, and each change. Whether it is right is held by tests/golden/advice_test.cc, against what a
// compiler made of it; here all of it is as it was, also where no report shows it. To record it anew after a change:
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
#include <string>
#include <utility>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "process.h"
#include "program/change.h"
#include "program/dump_files.h"
#include "rules/sha256.h"

using namespace whyoom;

namespace TEST_FILE {

namespace fs = std::filesystem;

constexpr std::int64_t kLimit = std::int64_t{63} << 28;  // 15.75 GiB

// What many lines say, in one: how many they are, and a digest of them.
class Lines {
 public:
  void Add(const std::string& line) {
    ++count_;
    all_ += line + "\n";
  }
  std::string Digest() const { return fmt::format("{} {}", count_, Sha256Hex(all_).substr(0, 12)); }

 private:
  std::size_t count_ = 0;
  std::string all_;
};

std::string ShapeText(const ArrayShape& shape) { return fmt::format("{}{}", shape.dtype, shape.dims); }

std::string AxisText(const Axis& axis) { return fmt::format("{} of {}", axis.size, axis.families); }

// The files of a folder's modules, by what their names begin with.
std::map<std::string, DumpPaths> ModulesIn(const fs::path& folder) {
  const std::vector<std::pair<std::string, std::string DumpPaths::*>> kinds = {
      {".after_optimizations-buffer-assignment.txt", &DumpPaths::buffer_assignment},
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

std::string ValuesText(const Program& program, const Meaning& meaning) {
  Lines values;
  std::map<int, std::int64_t> kinds;
  for (std::size_t i = 0; i < program.values().size(); ++i) {
    const ProgramValue& value = program.values()[i];
    kinds[static_cast<int>(meaning.KindOf(i))] += value.size;
    values.Add(fmt::format("{} {} {} {} {} {} {} {}", value.instruction, value.leaf, value.size, value.first,
                           value.last, static_cast<int>(meaning.KindOf(i)), meaning.RowsOf(i), meaning.IsScores(i)));
  }
  return fmt::format("  values {}: {}\n", values.Digest(), kinds);
}

std::string ParametersText(const Program& program, const Meaning& meaning) {
  Lines parameters;
  std::map<int, std::int64_t> roles;
  for (std::size_t i = 0; i < program.parameters().size(); ++i) {
    const ProgramParameter& parameter = program.parameters()[i];
    roles[static_cast<int>(meaning.RoleOf(i))] += parameter.size;
    parameters.Add(fmt::format("{} {} {} {} {} {}", parameter.path, ShapeText(program.ShapeOf(parameter)),
                               parameter.size, static_cast<int>(meaning.RoleOf(i)), parameter.shards,
                               meaning.RowsOf(parameter.instruction, parameter.leaf)));
  }
  return fmt::format("  parameters {}: {}\n", parameters.Digest(), roles);
}

std::string InstructionsText(const Program& program, const Meaning& meaning) {
  Lines instructions;
  int forward = 0;
  int backward = 0;
  const Dimensions& dimensions = program.dimensions();
  for (int i = 0; i < static_cast<int>(program.module().instructions.size()); ++i) {
    forward += meaning.IsForward(i) ? 1 : 0;
    backward += meaning.IsBackward(i) ? 1 : 0;
    std::string of;
    for (int leaf = 0; leaf < dimensions.LeafCount(i); ++leaf) of += fmt::format("{}", dimensions.Of(i, leaf));
    instructions.Add(fmt::format("{} {} {} {}", program.PositionOf(i), program.ScheduledAt(i), program.UsersOf(i), of));
  }
  Lines loops;
  for (const Loop& loop : dimensions.loops())
    loops.Add(fmt::format("{} {} {}", loop.instruction, loop.steps, loop.factor));
  Lines products;
  for (const Product& product : dimensions.products())
    products.Add(fmt::format("{} {} {} {}", product.batch, product.left, product.right, product.contracted));
  return fmt::format("  instructions {}, {} forward, {} backward; loops {}; products {}\n", instructions.Digest(),
                     forward, backward, loops.Digest(), products.Digest());
}

std::string ChangesText(const Program& program, const Meaning& meaning) {
  const Changes changes(program, meaning, kLimit);
  std::string text = fmt::format("  needs {}, {}\n", changes.need_bytes(), changes.whole() ? "whole" : "too large");
  const auto add = [&](const char* name, const std::optional<ModifiedProgram>& variant) {
    if (!variant) return;
    const Estimate outcome = changes.Judge(*variant);
    Lines sizes;
    for (const std::int64_t size : variant->sizes) sizes.Add(fmt::format("{}", size));
    Lines added;
    for (const Buffer& buffer : variant->added)
      added.Add(
          fmt::format("{} {} {} {} {}", buffer.size, buffer.first, buffer.last, buffer.allocation, buffer.values));
    text += fmt::format("  {} leaves {} ± {}, more {}, parts {}, axis {}, sizes {}, added {}{}{}\n", name,
                        outcome.left_bytes, outcome.spread_bytes, variant->more, variant->parts,
                        AxisText(variant->axis), sizes.Digest(), added.Digest(),
                        variant->ruled_out.empty() ? "" : fmt::format(", {}", variant->ruled_out),
                        variant->of_state ? ", of state" : "");
  };
  for (const auto& [name, axis] : {std::pair("batch", meaning.batch()), std::pair("sequence", meaning.sequence())}) {
    if (!axis) continue;
    text += fmt::format("  {} {}\n", name, AxisText(axis));
    add("  half", changes.Shorten(axis, 2));
    add("  longer", changes.Resize(axis, axis.size * 3 / 2));
    add("  accumulated", changes.Accumulate(axis, 4));
    add("  in pieces", changes.InPieces(axis, 4));
  }
  if (meaning.vocabulary()) text += fmt::format("  vocabulary {}\n", AxisText(meaning.vocabulary()));
  const std::optional<ModifiedProgram> narrow = changes.Narrow();
  const std::optional<ModifiedProgram> recompute = changes.Recompute();
  add("donated", changes.Donate());
  add("sharded", changes.Shard(4));
  add("on more devices", changes.MoreDevices(2));
  add("narrow", narrow);
  add("computed again", recompute);
  if (narrow && recompute) add("both", changes.Both(*narrow, *recompute));
  add("attention in blocks", changes.BlockAttention());
  add("loss in chunks", changes.ChunkLoss(8));
  add("labels as numbers", changes.NumberLabels());
  add("state on the host", changes.StateOnHost());
  add("without transfer", changes.WithoutHostTransfer());
  add("dimensions merged", changes.MergeTinyDimensions());
  return text;
}

// The parameters of the entry numbered from the last to the first, so that none is where it was: "parameter(0)" of the
// modules, "(0, {}, may-alias)" of their heads, "parameter 0, shape" of the assignment.
std::string Renumbered(std::string text) {
  const std::size_t entry = text.starts_with("HloModule") ? text.find("\nENTRY ") : 0;
  const std::string_view called = entry == 0 ? " parameter " : " parameter(";
  std::vector<std::size_t> at;  // of the figures
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
  std::sort(at.rbegin(), at.rend());  // from the end, so that places stay
  for (const std::size_t i : at)
    text.replace(i, text.find_first_not_of("0123456789", i) - i, std::to_string(most - figure(i)));
  return text;
}

// Without the names that people gave: op_name="jit(step)/mlp/dot_general".
std::string WithoutNames(std::string text) {
  const std::string_view name = "op_name=\"";
  for (std::size_t i = text.find(name); i != text.npos; i = text.find(name, i)) {
    std::size_t end = i + name.size();
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    text.erase(i, end + 1 - i);
  }
  return text;
}

// The files as the change makes them, in the folder.
DumpPaths Changed(const DumpPaths& paths, std::string (*change)(std::string), const ScratchFolder& folder) {
  DumpPaths changed;
  for (const auto path : {&DumpPaths::buffer_assignment, &DumpPaths::live_range, &DumpPaths::intermediate,
                          &DumpPaths::optimized, &DumpPaths::before}) {
    if (!(paths.*path).empty())
      changed.*path = folder.Write(fs::path(paths.*path).filename().string(), change(ReadText(paths.*path)));
  }
  return changed;
}

std::string TextOf(const DumpPaths& paths) {
  DumpFiles files = ReadDumpFiles(paths, {std::int64_t{32} << 10, 400000}, kLimit, true, Stop());
  std::string text = fmt::format("  usable {}, failed {}, whole {}, text {}\n", files.usable, files.failed, files.whole,
                                 fs::path(files.text_path).filename().string());
  if (!files.usable || files.text.instructions.empty()) return text;
  Lines moments;
  for (const MemoryMoment& moment : TimelineOf(files.memory))
    moments.Add(fmt::format("{} {}", moment.at, moment.bytes));
  text += fmt::format("  takes {}, host {}, moments {}\n", files.memory.need_bytes, files.memory.host_bytes,
                      moments.Digest());
  const Program program(std::move(files.text), std::move(files.before), std::move(files.memory));
  const Meaning meaning(program, BuiltInRules().role_words());
  text += fmt::format("  {}{}, {} partitions{}\n", meaning.trains() ? "trains" : "trains nothing",
                      meaning.has_attention() ? ", attends" : "", program.partitions(),
                      meaning.has_examples() ? ", of examples" : "");
  return text + ParametersText(program, meaning) + ValuesText(program, meaning) + InstructionsText(program, meaning) +
         ChangesText(program, meaning);
}

TEST_CASE("what is worked out of each dump is as recorded", "[program]") {
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
        text += fmt::format("== {}\n", of) + TextOf(paths);
        text +=
            fmt::format("== {}, parameters the other way round\n", of) + TextOf(Changed(paths, Renumbered, scratch));
        text += fmt::format("== {}, without names\n", of) + TextOf(Changed(paths, WithoutNames, scratch));
      }
    }
  }
  CheckRecorded((root / "program.txt").string(), text);
}

}  // namespace TEST_FILE
