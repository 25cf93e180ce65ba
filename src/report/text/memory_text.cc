#include "report/text/memory_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "report/finding_text.h"
#include "report/layout.h"
#include "report/memory_view.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kIndent = 6;  // of everything beside a label
constexpr std::size_t kKinds = 4;
constexpr std::size_t kBar = 10;
constexpr std::size_t kLine = 40;  // columns of the program's order
constexpr std::size_t kWholePrograms = 5;
constexpr std::size_t kNamedPrograms = 20;

std::string Beside(std::string_view label, std::string_view text, std::size_t width, const Style& style) {
  const std::string lead = style.Label(label) + std::string(kIndent - std::min(kIndent, label.size()), ' ');
  return Hanging(lead, kIndent, text, width);
}

// The kind, and as many of its modules as there is room for.
std::string Describe(const MemoryShare& share, std::size_t columns) {
  std::string text = share.name;
  for (std::size_t i = 0; i < share.modules.size(); ++i) {
    const std::string more = (i == 0 ? ": " : " · ") + share.modules[i];
    if (DisplayWidth(text + more) > columns) break;
    text += more;
  }
  return Shorten(text, columns);
}

// Those behind the first few as one.
std::vector<MemoryShare> Fewer(std::vector<MemoryShare> shares) {
  if (shares.size() <= kKinds + 1) return shares;
  MemoryShare others;
  others.name = "others";
  for (std::size_t i = kKinds; i < shares.size(); ++i) {
    others.bytes += shares[i].bytes;
    others.part += shares[i].part;
    others.modules.push_back(shares[i].name + " " + SizeText(shares[i].bytes));
  }
  shares.resize(kKinds);
  shares.push_back(std::move(others));
  return shares;
}

std::string SharesText(const Prospects& prospects, std::size_t width, const Style& style) {
  const std::vector<MemoryShare> shares = Fewer(SharesOf(prospects));
  if (shares.empty()) return {};
  std::string text = Beside("fills", "the memory at its fullest, by kind", width, style);
  constexpr std::size_t kColumn = kIndent + 10 + 2 + 5 + 2 + kBar + 2;
  for (const MemoryShare& share : shares) {
    text += std::string(kIndent, ' ') + fmt::format("{:>10}  {:>3.0f} %  ", SizeText(share.bytes), 100 * share.part) +
            style.Good(Bar(share.part, 1, kBar)) + "  " + Describe(share, width - std::min(width - 12, kColumn)) + "\n";
  }
  return text;
}

// One column a part of the program, as high as what is taken there.
std::string Sparkline(const TimelineView& timeline) {
  static constexpr const char* kHeights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t columns = std::min(timeline.bytes.size(), kLine);
  std::string line;
  for (std::size_t i = 0; i < columns; ++i) {
    const auto begin = timeline.bytes.begin() + static_cast<std::ptrdiff_t>(i * timeline.bytes.size() / columns);
    const auto end = timeline.bytes.begin() + static_cast<std::ptrdiff_t>((i + 1) * timeline.bytes.size() / columns);
    const double height = *std::max_element(begin, end) / timeline.most;
    line += kHeights[std::clamp<long>(std::lround(height * 8) - 1, 0, 7)];
  }
  return line;
}

std::string TimelineText(const Prospects& prospects, std::size_t width, const Style& style) {
  const TimelineView timeline = TimelineViewOf(prospects);
  constexpr std::size_t kFewest = 4;  // a line of less shows nothing
  if (timeline.bytes.size() < kFewest || width < kIndent + kLine + 20) return {};
  // One that hardly rises tells nothing.
  if (*std::min_element(timeline.bytes.begin(), timeline.bytes.end()) > 0.95 * timeline.most) return {};
  const std::string line = Sparkline(timeline);
  const std::size_t room = width - kIndent - DisplayWidth(line) - 2;
  return std::string(kIndent, ' ') + style.Good(line) + "  " +
         Shorten(fmt::format("over the run; fullest at {:.0f} %", 100 * timeline.most_at), room) + "\n";
}

std::string Joined(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : " · ") + item;
  return text;
}

std::string WholeProgram(const CompiledProgram& program, std::size_t width, const Style& style) {
  const ProgramView view = ViewOf(program);
  const std::string name = Shorten(view.name, 60);
  std::string text = style.Strong(name) + "\n";
  text += Hanging("", 0, view.verdict, width);
  std::string facts = view.chip.empty() ? "" : view.chip + " · ";
  if (program.occurrences > 1) facts += fmt::format("{} times · ", program.occurrences);
  text += Hanging("", 0, facts + view.place, width) + "\n";
  std::vector<std::string> parts;
  for (const auto& [part, bytes] : view.parts) parts.push_back(part + " " + SizeText(bytes));
  if (!parts.empty()) text += Beside("takes", Joined(parts), width, style);
  if (program.prospects) text += MemoryText(*program.prospects, width, style);
  if (!view.note.empty()) text += Beside("note", view.note, width, style);
  return text;
}

}  // namespace

std::string MemoryText(const Prospects& prospects, std::size_t width, const Style& style) {
  std::string text = SharesText(prospects, width, style) + TimelineText(prospects, width, style);
  const std::vector<std::string> room = RoomTexts(prospects.room);
  if (!room.empty()) text += Beside("room", Joined(room), width, style);
  return text;
}

std::string ProgramsText(const Report& report, std::size_t width, const Style& style) {
  std::string text;
  const std::size_t whole = std::min(report.programs.size(), kWholePrograms);
  for (std::size_t i = 0; i < whole; ++i) text += (i > 0 ? "\n" : "") + WholeProgram(report.programs[i], width, style);
  const std::size_t named = std::min(report.programs.size(), whole + kNamedPrograms);
  if (named > whole) text += "\n";
  for (std::size_t i = whole; i < named; ++i) {
    const ProgramView view = ViewOf(report.programs[i]);
    text += fmt::format("{:>10}  ", SizeText(view.need)) + Shorten(view.name + "  " + view.place, width - 12) + "\n";
  }
  const std::uint64_t more = report.programs.size() - named + report.programs_left_out;
  if (more > 0)
    text += fmt::format("and {} more programs{}\n", more,
                        report.programs.size() > named ? " (--format json has more)" : "");
  return text;
}

}  // namespace whyoom
