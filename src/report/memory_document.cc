// Builds the document of a program's memory (parts, kinds, modules, schedule), and of programs that fit.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "report/layout.h"
#include "report/report_document.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using doc::BarPart;
using doc::Depth;
using doc::Words;

constexpr std::size_t kKinds = 3;  // named in one line
constexpr std::size_t kModules = 20;
constexpr std::size_t kWholePrograms = 5;
constexpr std::size_t kNamedPrograms = 50;
constexpr std::size_t kModuleName = 80;  // columns
constexpr double kNothing = 0.005;       // of the need; less is a rounding error
constexpr double kFlat = 0.95;           // of the peak; if a timeline never falls below, it is not drawn
constexpr std::size_t kFewestMoments = 4;

BarPart PartOf(const std::string& kind, double bytes, const std::string& label = "") {
  static const std::map<std::string, std::pair<const char*, bool>> looks = {
      {"weights", {"args", false}},          {"gathered_weights", {"args", true}},
      {"optimizer_state", {"other", false}}, {"gradients", {"frag", false}},
      {"activations", {"temp", false}},      {"logits", {"row-b", false}},
      {"attention_scores", {"free", false}}, {"temporaries", {"rest", false}},
      {"padding", {"temp", true}},           {"inputs", {"free", true}},
      {"outputs", {"other", true}},          {"constants", {"frag", true}},
      {"fragmentation", {"rest", true}}};
  const auto look = looks.find(kind);
  if (look == looks.end()) return {bytes, "rest", label, false};
  return {bytes, look->second.first, label, look->second.second};
}

doc::Row KindRow(const MemoryShare& share) {
  doc::Row row{{{Words(SizeText(share.bytes))},
                {Words(fmt::format("{:.0f} %", 100 * share.part))},
                {doc::Sentence(share.name), {PartOf(share.kind, share.bytes, share.name)}}},
               {share.name}};
  std::vector<doc::Spans> modules;
  for (const std::string& module : share.modules) {
    row.brief.push_back((modules.empty() ? ": " : " · ") + module);
    modules.push_back(doc::Name(module));
  }
  row.cells.push_back({doc::Joined(modules, ", ")});
  row.drops = true;
  return row;
}

// The largest kinds in one line: "logits 20.72 GiB (92 %) · optimizer state 1.21 GiB · …".
doc::List KindsList(const std::vector<MemoryShare>& shares) {
  doc::List list{.style = doc::List::Style::kJoined};
  for (std::size_t i = 0; i < std::min(shares.size(), kKinds); ++i) {
    const std::string percent = i == 0 ? fmt::format(" ({:.0f} %)", 100 * shares[i].part) : "";
    list.items.push_back({Words(shares[i].name + " " + SizeText(shares[i].bytes) + percent)});
  }
  return list;
}

doc::Table KindsTable(const std::vector<MemoryShare>& shares) {
  doc::Table table;
  table.style = "parts kinds";
  table.caption = "memory by kind";
  table.columns = {{"size", doc::Column::Kind::kNumber, 10},
                   {"share", doc::Column::Kind::kNumber, 5},
                   {"kind", doc::Column::Kind::kSwatch, 10},
                   {"largest modules"}};
  table.scale.whole = 0;
  for (const MemoryShare& share : shares) {
    table.rows.push_back(KindRow(share));
    table.scale.whole += share.bytes;
  }
  return table;
}

// The memory of the user's modules, by kind.
doc::Table ModulesTable(const ProgramEstimates& estimates) {
  std::map<std::string, std::pair<double, std::vector<BarPart>>> modules;
  for (const MemoryPart& part : estimates.memory) {
    for (const auto& [name, size] : part.modules) {
      if (size <= 0) continue;
      auto& [bytes, parts] = modules[name];
      bytes += static_cast<double>(size);
      parts.push_back(PartOf(part.kind, static_cast<double>(size)));
    }
  }
  std::vector<std::pair<std::string, std::pair<double, std::vector<BarPart>>>> sorted(modules.begin(), modules.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
  doc::Table table;
  table.style = "modules";
  table.caption = "memory by module (only the largest of each kind)";
  table.columns = {{"size", doc::Column::Kind::kNumber, 10}, {"", doc::Column::Kind::kBar, 10}, {"module"}};
  for (std::size_t i = 0; i < std::min(sorted.size(), kModules); ++i) {
    const auto& [name, module] = sorted[i];
    table.rows.push_back({{{Words(SizeText(module.first))}, {{}, module.second}, {doc::Name(name, kModuleName)}}});
  }
  if (!sorted.empty()) table.scale.whole = sorted.front().second.first;
  table.left_out = sorted.size() - table.rows.size();
  return table;
}

std::string QuotedAxes(const std::vector<std::string>& axes) { return fmt::format("'{}'", fmt::join(axes, "', '")); }

// "Mesh axes: 'data' (4), 'model' (2); sizes are on one device."
std::string MeshText(const MeshSummary& mesh) {
  std::vector<std::string> axes;
  for (const MeshAxis& axis : mesh.axes) axes.push_back(fmt::format("'{}' ({})", axis.name, axis.devices));
  std::string text = fmt::format("Mesh axes: {}", fmt::join(axes, ", "));
  if (!mesh.manual_axes.empty()) text += "; shard_map runs over " + QuotedAxes(mesh.manual_axes);
  return text + "; sizes are on one device.";
}

// How the mesh splits the largest arrays.
doc::Table MeshTable(const MeshSummary& mesh) {
  doc::Table table;
  table.style = "modules";
  table.columns = {
      {"size", doc::Column::Kind::kNumber, 10}, {"role", doc::Column::Kind::kText, 10}, {"split"}, {"array"}};
  for (const MeshArray& array : mesh.arrays) {
    std::string split = array.spec.empty() ? "unknown" : array.spec;
    if (array.role == "gathered" || array.role == "exchanged")
      split = array.axes.empty() ? "unknown axes" : "over " + QuotedAxes(array.axes);
    else if (!array.whole_over.empty())
      split += ", whole over " + QuotedAxes(array.whole_over);
    table.rows.push_back({{{Words(SizeText(static_cast<double>(array.bytes)))},
                           {Words(array.role)},
                           {doc::Name(split)},
                           {doc::Name(array.array, kModuleName)}}});
  }
  return table;
}

// Lists the programs that are not shown in full. Report::programs is sorted by size.
doc::Table OtherPrograms(const Report& report) {
  doc::Table table;
  table.style = "programs";
  table.columns = {{"size", doc::Column::Kind::kNumber, 10}, {"program"}, {"where"}};
  for (std::size_t i = kWholePrograms; i < std::min(report.programs.size(), kWholePrograms + kNamedPrograms); ++i) {
    const ProgramView view = ViewOf(report.programs[i]);
    table.rows.push_back({{{Words(SizeText(view.need))}, {doc::Name(view.name)}, {doc::Name(view.place)}},
                          {view.name, "  " + view.place}});
  }
  table.left_out = report.programs.size() - kWholePrograms - table.rows.size() + report.programs_left_out;
  return table;
}

doc::Blocks ProgramBlocks(const CompiledProgram& program) {
  const ProgramView view = ViewOf(program);
  const std::optional<double> limit = view.limit > 0 ? std::optional(view.limit) : std::nullopt;
  doc::Verdict verdict{2, "", doc::Name(view.name), {Words(view.verdict)}, {doc::Name(view.chip)}};
  if (program.occurrences > 1) verdict.facts.push_back(Words(fmt::format("{} times", program.occurrences)));
  verdict.facts.push_back(doc::Name(view.place));
  doc::Blocks blocks = {std::move(verdict)};
  const char* const styles[] = {"args", "other", "temp"};
  doc::MemoryBar bar{{}, {std::max(view.need, view.limit), limit}, false, view.verdict};
  doc::List parts{.style = doc::List::Style::kJoined};
  for (const auto& [name, bytes] : view.parts) {
    bar.parts.push_back({bytes, styles[bar.parts.size() % 3], name, false});
    parts.items.push_back({Words(name + " " + SizeText(bytes))});
  }
  doc::Blocks needs;
  if (!program.estimates) needs.emplace_back(std::move(bar));
  needs.emplace_back(std::move(parts));
  if (!view.parts.empty()) blocks.emplace_back(doc::Section{"needs", "Memory needed", std::move(needs)});
  if (program.estimates) {
    AddMemory(*program.estimates, limit, &blocks);
    AddMemoryTables(*program.estimates, &blocks);
  }
  if (!view.note.empty())
    blocks.emplace_back(doc::Section{"note", "Note", {doc::Paragraph{doc::Sentence(view.note)}}, true});
  return blocks;
}

}  // namespace

void AddMemory(const ProgramEstimates& estimates, const std::optional<double>& limit, doc::Blocks* blocks) {
  const std::vector<MemoryShare> shares = SharesOf(estimates);
  if (!shares.empty()) {
    doc::MemoryBar bar;
    bar.scale = {0, limit};
    for (const MemoryShare& share : shares) {
      bar.parts.push_back(PartOf(share.kind, share.bytes, share.name));
      bar.scale.whole += share.bytes;
      bar.alternative += (bar.alternative.empty() ? "" : ", ") + share.name + " " + AmountText(share);
    }
    bar.scale.whole = std::max(bar.scale.whole, limit.value_or(0));
    doc::Blocks peak = {std::move(bar)};
    peak.emplace_back(KindsList(shares), Depth::kBrief);
    TimelineView timeline = TimelineViewOf(estimates);
    const auto least = std::min_element(timeline.bytes.begin(), timeline.bytes.end());
    const bool is_flat = timeline.bytes.size() < kFewestMoments || *least > kFlat * timeline.most;
    if (!is_flat) peak.emplace_back(doc::Timeline{std::move(timeline), limit});
    blocks->emplace_back(doc::Section{"peak", "Memory at the peak", std::move(peak), true});
    blocks->emplace_back(doc::Section{"kinds", "Memory by kind", {KindsTable(shares)}, true, true}, Depth::kMore);
  }
  doc::List room{.style = doc::List::Style::kJoined};
  for (const std::string& sentence : FitTexts(estimates.room)) room.items.push_back({doc::Sentence(sentence)});
  if (!room.items.empty())
    blocks->emplace_back(doc::Section{.label = "fits",
                                      .title = "What would fit",
                                      .blocks = {std::move(room)},
                                      .follows = true,
                                      .anchor = "",
                                      .weighty = true});
}

void AddMemoryTables(const ProgramEstimates& estimates, doc::Blocks* blocks) {
  doc::Table modules = ModulesTable(estimates);
  if (modules.rows.size() > 1)
    blocks->emplace_back(doc::Section{"model", "Memory by module of your model", {std::move(modules)}, false, true},
                         Depth::kMore);
  if (estimates.mesh && !estimates.mesh->arrays.empty())
    blocks->emplace_back(
        doc::Section{"mesh",
                     "Arrays on the mesh",
                     {doc::Paragraph{doc::Sentence(MeshText(*estimates.mesh))}, MeshTable(*estimates.mesh)},
                     false,
                     true},
        Depth::kMore);
}

std::vector<BarPart> PartsOfNeed(const Failure& failure, const Need& need) {
  const auto fact = [&](const char* name) { return std::max(0.0, failure.facts.Number(name).value_or(0)); };
  std::vector<BarPart> parts;
  double left = need.need;
  const auto add = [&](double bytes, const char* style, const char* label, bool padding = false) {
    bytes = std::min(bytes, left);
    if (bytes < kNothing * need.need) return;
    parts.push_back({bytes, style, label, padding});
    left -= bytes;
  };
  if (failure.facts.Number("request_bytes")) {
    // Where the need counts the memory in use, the request is only what comes on top.
    const double request = std::min(fact("request_bytes"), need.need);
    add(need.need - request, "args", "in use");
    add(request, "temp", "one request");
    return parts;
  }
  add(fact("arguments_bytes"), "args", "arguments");
  add(fact("tensorcore_bytes"), "temp", "TensorCore");
  add(fact("sparsecore_bytes"), "other", "SparseCore");
  const double temporaries = fact("hlo_temp_bytes");
  const double padding = std::min(fact("hlo_temp_padding_bytes"), temporaries);
  const double fragments = std::min(fact("fragmentation_bytes"), temporaries - padding);
  add(temporaries - padding - fragments, "temp", "temporaries");
  add(padding, "temp", "padding of temporaries", true);
  add(fragments, "frag", "fragmentation");
  add(fact("program_bytes") - temporaries, "other", "rest of the program");
  add(left, "rest", parts.empty() ? need.need_word : "not broken down");
  return parts;
}

std::vector<BarPart> PartsOfFree(const Failure& failure, const Need& need) {
  const double free = failure.facts.Number("free_bytes").value_or(0);
  if (failure.rule->phase == "compile" || free < need.have) return {};
  if (free == need.have) return {{free, "free", "free", false}};
  return {{need.have, "free", "free in one piece", false}, {free - need.have, "free", "free in smaller pieces", true}};
}

doc::MemoryBar EffectBar(const Need& need, const RankedRemedy& ranked) {
  const double saved = need.need - static_cast<double>(ranked.saves_bytes.value_or(0));
  const double after = std::clamp(ranked.left_bytes ? static_cast<double>(*ranked.left_bytes) : saved, 0.0, need.need);
  return {{{after, after <= need.have ? "fits" : "over", "", false}, {need.need - after, "saved", "", false}},
          {std::max(need.need, need.have), need.have},
          true,
          fmt::format("With the remedy: about {} of {} {}", SizeText(after), SizeText(need.have), need.have_word)};
}

std::vector<doc::Part> ProgramParts(const Report& report) {
  std::vector<doc::Part> parts;
  for (std::size_t i = 0; i < std::min(report.programs.size(), kWholePrograms); ++i) {
    parts.emplace_back().make = [&program = report.programs[i], first = i == 0](doc::Pass /*pass*/) {
      doc::Blocks blocks = ProgramBlocks(program);
      if (first) blocks.insert(blocks.begin(), doc::Heading{"Programs that fit in HBM"});
      return blocks;
    };
  }
  if (report.programs.size() > kWholePrograms || report.programs_left_out > 0)
    parts.emplace_back().make = [&report](doc::Pass /*pass*/) { return doc::Blocks{OtherPrograms(report)}; };
  return parts;
}

}  // namespace whyoom
