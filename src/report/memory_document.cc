// Builds the document of a program's memory (parts, kinds, modules), and of programs that fit.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "report/failure_view.h"
#include "report/formatting.h"
#include "report/report_document.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using doc::Words;

constexpr std::size_t kKinds = 3;  // named in one line
constexpr std::size_t kWholePrograms = 5;
constexpr double kNothing = 0.005;  // of the need; less is a rounding error

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
  return fmt::format("about {} (now {})", fits / digit * digit, now);
}

std::string PercentText(double part) {
  return part > 0 && part < kLeastShare ? "under 1 %" : fmt::format("{:.0f} %", 100 * part);
}

double Number(const Evidence& facts, const char* name) { return std::max(0.0, facts.Number(name).value_or(0)); }

std::string PlaceOf(const CompiledProgram& program) {
  return program.basis == "log" ? PlaceText(program.where) : ArtifactText(program.where.artifact);
}

doc::Spans NameOf(const CompiledProgram& program) {
  const std::string name = program.facts.Text("module");
  return doc::Name(name.empty() ? "a program" : name);
}

// The kinds of memory at the peak, without those below half a percent, and the whole in bytes.
std::pair<std::vector<MemoryPart>, double> PeakOf(const ProgramEstimates& estimates) {
  double whole = 0;
  for (const MemoryPart& part : estimates.memory) whole += static_cast<double>(std::max<std::int64_t>(part.bytes, 0));
  std::vector<MemoryPart> parts = estimates.memory;
  std::erase_if(parts, [&](const MemoryPart& part) {
    return part.bytes <= 0 || static_cast<double>(part.bytes) < kLeastShare * whole;
  });
  return {parts, whole};
}

doc::Blocks BlocksOf(const CompiledProgram& program) {
  const Evidence& facts = program.facts;
  doc::Verdict verdict{2, "", NameOf(program), {Words(ProgramVerdict(program))}, {doc::Name(facts.Text("chip"))}};
  if (program.occurrences > 1) verdict.facts.push_back(Words(fmt::format("{} times", program.occurrences)));
  verdict.facts.push_back(doc::Name(PlaceOf(program)));
  doc::Blocks blocks = {std::move(verdict)};
  std::vector<doc::Spans> parts;
  const double shared = Number(facts, "shared_output_bytes");
  for (const auto& [name, bytes] : {std::pair("arguments", Number(facts, "arguments_bytes")),
                                    std::pair("outputs (not aliased)", Number(facts, "output_bytes") - shared),
                                    std::pair("temporaries", Number(facts, "hlo_temp_bytes"))}) {
    if (bytes > 0) parts.push_back(Words(name + (" " + SizeText(bytes))));
  }
  doc::AddSection({"needs", {doc::Inline(parts)}}, &blocks);
  if (program.estimates) AddPeak(*program.estimates, &blocks);
  if (program.estimates) AddRoom(program.estimates->room, &blocks);
  if (Number(facts, "limit_bytes") <= 0)
    doc::AddSection(
        {"note", {doc::Paragraph{doc::Sentence("set the device's memory size with --hbm 15.75G or --hbm v5e")}}},
        &blocks);
  return blocks;
}

}  // namespace

std::string ProgramVerdict(const CompiledProgram& program) {
  const double need = Number(program.facts, "need_bytes");
  const double limit = Number(program.facts, "limit_bytes");
  const std::string needs = (program.basis == "log" ? "According to the log, it needs " : "It needs ") + SizeText(need);
  if (limit <= 0) return needs + "; the device's memory size is unknown";
  const std::string of = needs + " of " + SizeText(limit);
  if (need > limit) return of + ", " + SizeText(need - limit) + " too much";
  return of + " (" + PercentText(need / limit) + "); " + SizeText(limit - need) + " is free";
}

doc::Table KindsTable(const ProgramEstimates& estimates) {
  doc::Table table{{{"size", true}, {"share", true}, {"kind"}, {"largest modules"}}, {}, 0};
  const auto [parts, whole] = PeakOf(estimates);
  for (const MemoryPart& part : parts) {
    std::vector<doc::Spans> modules;
    for (const auto& [module, size] : part.modules) {
      if (modules.size() == kMostModules || size < part.bytes / 20) break;
      modules.push_back(doc::Name(Shorten(Printable(module), kLongestModule) + " " + FormatSize(size)));
    }
    table.rows.push_back({Words(FormatSize(part.bytes)), Words(PercentText(static_cast<double>(part.bytes) / whole)),
                          Words(NameOf(part.kind)), doc::Joined(modules, ", ")});
  }
  return table;
}

void AddPeak(const ProgramEstimates& estimates, doc::Blocks* blocks) {
  const auto [parts, whole] = PeakOf(estimates);
  std::vector<doc::Spans> kinds;
  for (std::size_t i = 0; i < std::min(parts.size(), kKinds); ++i) {
    const std::string share = i == 0 ? " (" + PercentText(static_cast<double>(parts[i].bytes) / whole) + ")" : "";
    kinds.push_back(Words(NameOf(parts[i].kind) + " " + FormatSize(parts[i].bytes) + share));
  }
  doc::AddSection({"peak", {doc::Inline(kinds)}}, blocks);
}

void AddRoom(const Room& room, doc::Blocks* blocks) {
  std::vector<doc::Spans> texts;
  const auto add = [&](const std::string& what, const std::optional<AxisLocation>& axis, std::int64_t fits,
                       std::int64_t now, const std::string& behind) {
    if (now > 0 && fits > 0) texts.push_back(doc::Sentence(SizeLead(what, axis) + SizesText(fits, now) + behind));
  };
  add("batch", room.batch_axis, room.largest_batch, room.batch,
      room.batch_devices > 1 ? fmt::format(" over {} devices", room.batch_devices) : "");
  if (room.micro_batches > 1) texts.push_back(Words(fmt::format("{} micro-batches", room.micro_batches)));
  add("sequence", room.sequence_axis, room.largest_sequence, room.sequence, "");
  doc::AddSection({"fits", {doc::Inline(texts)}}, blocks);
}

doc::Paragraph NeededParts(const Failure& failure) {
  const std::optional<Need> need = NeedOf(failure);
  if (!need || failure.facts.Number("request_bytes")) return {};
  std::vector<doc::Spans> texts;
  double left = need->need;
  const auto fact = [&](const char* name) { return Number(failure.facts, name); };
  const auto add = [&](const char* name, double bytes) {
    bytes = std::min(bytes, left);
    if (bytes < kNothing * need->need) return;
    texts.push_back(Words(fmt::format("{} {}", name, SizeText(bytes))));
    left -= bytes;
  };
  add("arguments", fact("arguments_bytes"));
  add("TensorCore", fact("tensorcore_bytes"));
  add("SparseCore", fact("sparsecore_bytes"));
  const double temporaries = fact("hlo_temp_bytes");
  const double padding = std::min(fact("hlo_temp_padding_bytes"), temporaries);
  const double fragments = std::min(fact("fragmentation_bytes"), temporaries - padding);
  add("temporaries", temporaries - padding - fragments);
  add("padding of temporaries", padding);
  add("fragmentation", fragments);
  add("rest of the program", fact("program_bytes") - temporaries);
  if (!texts.empty()) add("not broken down", left);
  if (const double reserved = fact("system_reserved_bytes"); reserved > 0)
    texts.push_back(Words(SizeText(reserved) + " more is reserved by the runtime"));
  return doc::Inline(texts);
}

std::vector<doc::Blocks> ProgramBlocks(const Report& report) {
  std::vector<doc::Blocks> programs;
  if (!report.programs.empty())
    programs.push_back({doc::Paragraph{Words("Programs that fit in HBM", doc::Span::Kind::kGood)}});
  const std::size_t shown = std::min(report.programs.size(), kWholePrograms);
  for (std::size_t i = 0; i < shown; ++i) programs.push_back(BlocksOf(report.programs[i]));
  const std::uint64_t left_out = report.programs.size() - shown + report.programs_left_out;
  if (left_out > 0) programs.push_back({doc::LeftOut(left_out)});
  return programs;
}

}  // namespace whyoom
