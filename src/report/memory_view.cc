#include "report/memory_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "report/failure_view.h"
#include "report/layout.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

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

}  // namespace whyoom
