#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "report/finding_view.h"
#include "report/layout.h"
#include "report/memory_view.h"
#include "report/text/text_parts.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kKinds = 4;
constexpr std::size_t kMemoryBar = 10;
constexpr std::size_t kLine = 40;  // columns of the program's order
constexpr std::size_t kWholePrograms = 5;
constexpr std::size_t kNamedPrograms = 20;

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

void PrintShares(const std::vector<MemoryShare>& shares, TextPage* page) {
  constexpr std::size_t kColumn = TextPage::kIndent + 10 + 2 + 5 + 2 + kMemoryBar + 2;
  const std::size_t room = page->width() - std::min(page->width() - 12, kColumn);
  page->Beside("fills", "the memory at its fullest, by kind");
  for (const MemoryShare& share : shares) {
    page->IndentedLine(fmt::format("{:>10}  {:>3.0f} %  ", SizeText(share.bytes), 100 * share.part) +
                       page->style().Good(Bar(share.part, 1, kMemoryBar)) + "  " + Describe(share, room));
  }
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

void PrintTimeline(const TimelineView& timeline, TextPage* page) {
  constexpr std::size_t kFewest = 4;  // a line of less shows nothing
  if (timeline.bytes.size() < kFewest || page->width() < TextPage::kIndent + kLine + 20) return;
  // One that hardly rises tells nothing.
  if (*std::min_element(timeline.bytes.begin(), timeline.bytes.end()) > 0.95 * timeline.most) return;
  const std::string line = Sparkline(timeline);
  const std::size_t room = page->width() - TextPage::kIndent - DisplayWidth(line) - 2;
  page->IndentedLine(page->style().Good(line) + "  " +
                     Shorten(fmt::format("over the run; fullest at {:.0f} %", 100 * timeline.most_at), room));
}

void PrintProgram(const CompiledProgram& program, TextPage* page) {
  const ProgramView view = ViewOf(program);
  page->Line(page->style().Strong(Shorten(view.name, 60)));
  page->Paragraph(view.verdict);
  std::string facts = view.chip.empty() ? "" : view.chip + " · ";
  if (program.occurrences > 1) facts += fmt::format("{} times · ", program.occurrences);
  page->Paragraph(facts + view.place);
  page->Blank();
  std::vector<std::string> parts;
  for (const auto& [part, bytes] : view.parts) parts.push_back(part + " " + SizeText(bytes));
  if (!parts.empty()) page->Beside("takes", Joined(parts));
  if (program.prospects) PrintProspects(*program.prospects, false, page);
  if (!view.note.empty()) page->Beside("note", view.note);
}

}  // namespace

void PrintProspects(const Prospects& prospects, bool apart, TextPage* page) {
  const std::vector<MemoryShare> shares = Fewer(SharesOf(prospects));
  const std::vector<std::string> room = RoomTexts(prospects.room);
  if (shares.empty() && room.empty()) return;
  if (apart) page->Blank();
  if (!shares.empty()) PrintShares(shares, page);
  PrintTimeline(TimelineViewOf(prospects), page);
  if (!room.empty()) page->Beside("room", Joined(room));
}

void PrintProgramsThatFit(const Report& report, TextPage* page) {
  const std::size_t whole = std::min(report.programs.size(), kWholePrograms);
  for (std::size_t i = 0; i < whole; ++i) {
    if (i > 0) page->Blank();
    PrintProgram(report.programs[i], page);
  }
  const std::size_t named = std::min(report.programs.size(), whole + kNamedPrograms);
  if (named > whole) page->Blank();
  for (std::size_t i = whole; i < named; ++i) {
    const ProgramView view = ViewOf(report.programs[i]);
    page->Line(fmt::format("{:>10}  ", SizeText(view.need)) +
               Shorten(view.name + "  " + view.place, page->width() - 12));
  }
  const std::uint64_t more = report.programs.size() - named + report.programs_left_out;
  if (more > 0)
    page->Line(
        fmt::format("and {} more programs{}", more, report.programs.size() > named ? " (--format json has more)" : ""));
}

}  // namespace whyoom
