// Builds the document of a program's memory (parts, kinds, modules), and of programs that fit.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "report/memory_view.h"
#include "report/report_document.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using doc::Words;

constexpr std::size_t kKinds = 3;  // named in one line
constexpr std::size_t kModules = 5;
constexpr std::size_t kWholePrograms = 5;
constexpr std::size_t kNamedPrograms = 50;
constexpr std::size_t kModuleName = 80;  // columns
constexpr double kNothing = 0.005;       // of the need; less is a rounding error

// The largest kinds: "logits 20.72 GiB (92 %)", "optimizer state 1.21 GiB".
doc::List KindsList(const std::vector<MemoryShare>& shares) {
  doc::List list{doc::List::Style::kInline, {}, 0};
  for (std::size_t i = 0; i < std::min(shares.size(), kKinds); ++i) {
    const std::string percent = i == 0 ? fmt::format(" ({:.0f} %)", 100 * shares[i].part) : "";
    list.items.push_back({Words(shares[i].name + " " + SizeText(shares[i].bytes) + percent)});
  }
  return list;
}

doc::Table KindsTable(const ProgramEstimates& estimates) {
  doc::Table table{{{"size", true}, {"share", true}, {"kind"}, {"largest modules"}}, {}, 0};
  for (const MemoryShare& share : SharesOf(estimates)) {
    std::vector<doc::Spans> modules;
    for (const std::string& module : share.modules) modules.push_back(doc::Name(module));
    table.rows.push_back({Words(SizeText(share.bytes)), Words(fmt::format("{:.0f} %", 100 * share.part)),
                          Words(share.name), doc::Joined(modules, ", ")});
  }
  return table;
}

// The memory of the user's modules, largest first.
doc::Table ModulesTable(const ProgramEstimates& estimates) {
  std::map<std::string, double> modules;
  for (const MemoryPart& part : estimates.memory) {
    for (const auto& [name, size] : part.modules) modules[name] += static_cast<double>(std::max<std::int64_t>(size, 0));
  }
  std::vector<std::pair<std::string, double>> sorted(modules.begin(), modules.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  doc::Table table{{{"size", true}, {"module"}}, {}, 0};
  for (std::size_t i = 0; i < std::min(sorted.size(), kModules); ++i)
    table.rows.push_back({Words(SizeText(sorted[i].second)), doc::Name(sorted[i].first, kModuleName)});
  table.left_out = sorted.size() - table.rows.size();
  return table;
}

// Lists the programs that are not shown in full. Report::programs is sorted by size.
doc::Table OtherPrograms(const Report& report) {
  doc::Table table{{{"size", true}, {"program"}, {"where"}}, {}, 0};
  for (std::size_t i = kWholePrograms; i < std::min(report.programs.size(), kWholePrograms + kNamedPrograms); ++i) {
    const ProgramView view = ViewOf(report.programs[i]);
    table.rows.push_back({Words(SizeText(view.need)), doc::Name(view.name), doc::Name(view.place)});
  }
  table.left_out = report.programs.size() - kWholePrograms - table.rows.size() + report.programs_left_out;
  return table;
}

doc::Blocks BlocksOf(const CompiledProgram& program) {
  const ProgramView view = ViewOf(program);
  doc::Verdict verdict{2, "", doc::Name(view.name), {Words(view.verdict)}, {doc::Name(view.chip)}};
  if (program.occurrences > 1) verdict.facts.push_back(Words(fmt::format("{} times", program.occurrences)));
  verdict.facts.push_back(doc::Name(view.place));
  doc::Blocks blocks = {std::move(verdict)};
  doc::List parts{doc::List::Style::kInline, {}, 0};
  for (const auto& [name, bytes] : view.parts) parts.items.push_back({Words(name + " " + SizeText(bytes))});
  doc::AddSection({"needs", {std::move(parts)}}, &blocks);
  if (program.estimates) AddMemory(*program.estimates, &blocks);
  doc::AddSection({"note", {doc::Paragraph{doc::Sentence(view.note)}}}, &blocks);
  return blocks;
}

}  // namespace

void AddMemory(const ProgramEstimates& estimates, doc::Blocks* blocks) {
  doc::AddSection({"peak", {KindsList(SharesOf(estimates))}}, blocks);
  doc::List room{doc::List::Style::kInline, {}, 0};
  for (const std::string& sentence : FitTexts(estimates.room)) room.items.push_back({doc::Sentence(sentence)});
  doc::AddSection({"fits", {std::move(room)}}, blocks);
}

void AddMemoryTables(const ProgramEstimates& estimates, doc::Blocks* blocks) {
  doc::AddSection({"Memory by kind", {KindsTable(estimates)}}, blocks);
  doc::Table modules = ModulesTable(estimates);
  if (modules.rows.size() > 1) doc::AddSection({"Memory by module of your model", {std::move(modules)}}, blocks);
}

doc::List PartsList(const Failure& failure) {
  doc::List list{doc::List::Style::kInline, {}, 0};
  const std::optional<Need> need = NeedOf(failure);
  if (!need || failure.facts.Number("request_bytes")) return list;
  double left = need->need;
  const auto fact = [&](const char* name) { return std::max(0.0, failure.facts.Number(name).value_or(0)); };
  const auto add = [&](double bytes, const char* name) {
    bytes = std::min(bytes, left);
    if (bytes < kNothing * need->need) return;
    list.items.push_back({Words(fmt::format("{} {}", name, SizeText(bytes)))});
    left -= bytes;
  };
  add(fact("arguments_bytes"), "arguments");
  add(fact("tensorcore_bytes"), "TensorCore");
  add(fact("sparsecore_bytes"), "SparseCore");
  const double temporaries = fact("hlo_temp_bytes");
  const double padding = std::min(fact("hlo_temp_padding_bytes"), temporaries);
  const double fragments = std::min(fact("fragmentation_bytes"), temporaries - padding);
  add(temporaries - padding - fragments, "temporaries");
  add(padding, "padding of temporaries");
  add(fragments, "fragmentation");
  add(fact("program_bytes") - temporaries, "rest of the program");
  if (!list.items.empty()) add(left, "not broken down");
  if (const double reserved = fact("system_reserved_bytes"); reserved > 0)
    list.items.push_back({Words(SizeText(reserved) + " more is reserved by the runtime")});
  return list;
}

std::vector<doc::Blocks> ProgramBlocks(const Report& report) {
  std::vector<doc::Blocks> programs;
  if (!report.programs.empty())
    programs.push_back({doc::Paragraph{Words("Programs that fit in HBM", doc::Span::Kind::kGood)}});
  for (std::size_t i = 0; i < std::min(report.programs.size(), kWholePrograms); ++i)
    programs.push_back(BlocksOf(report.programs[i]));
  if (report.programs.size() > kWholePrograms || report.programs_left_out > 0)
    programs.push_back({doc::Section{"Other programs that fit", {OtherPrograms(report)}}});
  return programs;
}

}  // namespace whyoom
