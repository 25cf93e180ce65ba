#include "report/markdown/markdown_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/finding_view.h"
#include "report/layout.h"
#include "report/markdown/markdown_text.h"
#include "report/memory_view.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kKinds = 8;
constexpr std::size_t kWholePrograms = 8;
constexpr std::size_t kNamedPrograms = 50;
constexpr std::size_t kLongestRowName = 160;  // columns

std::string ShortCode(const std::string& name) { return MarkdownCode(Shorten(name, kLongestRowName)); }

std::string WholeProgram(const CompiledProgram& program, bool first) {
  const ProgramView view = ViewOf(program);
  std::string text = first ? "### Programs that fit\n\n" : "";
  text += "#### " + ShortCode(view.name) + "\n\n" + ShortCode(view.place);
  if (!view.chip.empty()) text += " · " + ShortCode(view.chip);
  if (program.occurrences > 1) text += fmt::format(" · {} times", program.occurrences);
  text += "\n\n" + MarkdownSentence(view.verdict) + ".\n";
  if (!view.note.empty()) text += "\n" + MarkdownSentence(view.note) + ".\n";
  if (!view.parts.empty()) {
    text += "\n| part | size |\n|---|---:|\n";
    for (const auto& [name, bytes] : view.parts) text += fmt::format("| {} | {} |\n", name, SizeText(bytes));
  }
  return text + (program.prospects ? MarkdownMemory(*program.prospects) : "");
}

}  // namespace

std::string MarkdownMemory(const Prospects& prospects) {
  const std::vector<MemoryShare> shares = SharesOf(prospects);
  std::string text;
  if (!shares.empty())
    text += "\n**What fills the memory**\n\n| what | size | part | most of it in |\n|---|---:|---:|---|\n";
  for (std::size_t i = 0; i < std::min(shares.size(), kKinds); ++i) {
    const MemoryShare& share = shares[i];
    std::string modules;
    for (const std::string& module : share.modules) modules += (modules.empty() ? "" : ", ") + ShortCode(module);
    text += fmt::format("| {} | {} | {:.0f} % | {} |\n", share.name, SizeText(share.bytes), 100 * share.part, modules);
  }
  const std::string fullest = FullestText(TimelineViewOf(prospects));
  if (!fullest.empty()) text += "\nOver the run it is " + MarkdownSentence(fullest) + ".\n";
  const std::vector<std::string> room = RoomTexts(prospects.room);
  if (!room.empty()) text += "\n**What would fit**\n\n";
  for (const std::string& sentence : room) text += "- " + MarkdownSentence(sentence) + "\n";
  return text;
}

std::vector<MarkdownPart> MarkdownPrograms(const Report& report) {
  std::vector<MarkdownPart> parts;
  const std::size_t whole = std::min(report.programs.size(), kWholePrograms);
  for (std::size_t i = 0; i < whole; ++i) parts.push_back({WholeProgram(report.programs[i], i == 0), {}, ""});
  const std::size_t named = std::min(report.programs.size(), whole + kNamedPrograms);
  std::string others;
  for (std::size_t i = whole; i < named; ++i) {
    const ProgramView view = ViewOf(report.programs[i]);
    others += fmt::format("- {}: {}, {}\n", ShortCode(view.name), SizeText(view.need), ShortCode(view.place));
  }
  const std::uint64_t more = report.programs.size() - named + report.programs_left_out;
  if (more > 0) others += fmt::format("- and {} more programs\n", more);
  if (!others.empty()) parts.push_back({others, {}, ""});
  return parts;
}

}  // namespace whyoom
