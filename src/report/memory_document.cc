// Builds the document of a program's memory (parts, kinds, modules), and of programs that fit.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "report/failure_view.h"
#include "report/layout.h"
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

constexpr double kLeastShare = 0.005;  // of the whole
constexpr std::size_t kMostModules = 3;
constexpr std::size_t kLongestModule = 60;  // columns

// The usual terms of machine learning.
std::string NameOf(std::string kind) {
  if (kind == "gathered_weights") return "weights gathered from other devices";
  if (kind == "fragmentation") return "gaps between arrays";
  if (kind == "unknown") return "unclassified";
  std::replace(kind.begin(), kind.end(), '_', ' ');
  return Printable(kind);
}

// Names the dimension by its position if it is not known to be a batch or sequence.
std::string SizeLead(const std::string& what, const std::optional<AxisLocation>& axis) {
  if (!axis || !axis->name.empty()) return what + " ";
  return fmt::format("axis {} of {}: ", axis->number, Shorten(Printable(axis->array), kLongestModule));
}

std::string SizesText(std::int64_t fits, std::int64_t now) {
  if (fits == now) return fmt::format("{}, the current size", fits);
  // An estimate is inexact, especially far from the compiled size, so it is rounded down.
  const std::int64_t exact = fits / 4 > now ? 100 : 10000;
  std::int64_t digit = 1;
  while (fits / digit >= exact) digit *= 10;
  return fmt::format("{}{} (now {})", digit > 1 ? "about " : "", fits / digit * digit, now);
}

std::string PercentText(double part) {
  return part > 0 && part < kLeastShare ? "under 1 %" : fmt::format("{:.0f} %", 100 * part);
}

double Number(const Evidence& facts, const char* name) { return facts.Number(name).value_or(0); }

std::string VerdictOf(const ProgramView& view, const std::string& basis) {
  const std::string needs = basis == "log" ? "According to the log, it needs " : "It needs ";
  if (view.limit <= 0) return needs + SizeText(view.need) + "; the device's memory size is unknown";
  const std::string of = " of " + SizeText(view.limit);
  if (view.need > view.limit)
    return needs + SizeText(view.need) + of + ", " + SizeText(view.need - view.limit) + " too much";
  return needs + SizeText(view.need) + of + " (" + PercentText(view.need / view.limit) + "); " +
         SizeText(view.limit - view.need) + " is free";
}

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

std::vector<MemoryShare> SharesOf(const ProgramEstimates& estimates) {
  double whole = 0;
  for (const MemoryPart& part : estimates.memory) whole += static_cast<double>(std::max<std::int64_t>(part.bytes, 0));
  std::vector<MemoryShare> shares;
  for (const MemoryPart& part : estimates.memory) {
    const auto bytes = static_cast<double>(part.bytes);
    if (bytes <= 0 || bytes < kLeastShare * whole) continue;
    MemoryShare share{NameOf(part.kind), bytes, bytes / whole};
    for (const auto& [module, size] : part.modules) {
      if (share.modules.size() == kMostModules || static_cast<double>(size) < kLeastShare * whole) break;
      share.modules.push_back(Shorten(Printable(module), kLongestModule) + " " + SizeText(static_cast<double>(size)));
    }
    shares.push_back(std::move(share));
  }
  return shares;
}

std::vector<std::string> FitTexts(const Room& room) {
  std::vector<std::string> texts;
  if (room.batch > 0 && room.largest_batch > 0) {
    texts.push_back(SizeLead("batch", room.batch_axis) + SizesText(room.largest_batch, room.batch) +
                    (room.batch_devices > 1 ? fmt::format(" over {} devices", room.batch_devices) : ""));
  }
  if (room.micro_batches > 1) texts.push_back(fmt::format("{} micro-batches", room.micro_batches));
  if (room.sequence > 0 && room.largest_sequence > 0)
    texts.push_back(SizeLead("sequence", room.sequence_axis) + SizesText(room.largest_sequence, room.sequence));
  return texts;
}

ProgramView ViewOf(const CompiledProgram& program) {
  ProgramView view;
  view.name = Printable(program.facts.Text("module"));
  if (view.name.empty()) view.name = "a program";
  view.place = program.basis == "log" ? PlaceText(program.where) : ArtifactText(program.where.artifact);
  view.need = std::max(Number(program.facts, "need_bytes"), 0.0);
  view.limit = std::max(Number(program.facts, "limit_bytes"), 0.0);
  view.chip = Printable(program.facts.Text("chip"));
  view.verdict = VerdictOf(view, program.basis);
  const double shared = Number(program.facts, "shared_output_bytes");
  for (const auto& [name, bytes] : {std::pair("arguments", Number(program.facts, "arguments_bytes")),
                                    std::pair("outputs (not aliased)", Number(program.facts, "output_bytes") - shared),
                                    std::pair("temporaries", Number(program.facts, "hlo_temp_bytes"))}) {
    if (bytes > 0) view.parts.emplace_back(name, bytes);
  }
  if (view.limit <= 0) view.note = "set the device's memory size with --hbm 15.75G or --hbm v5e";
  return view;
}

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
