#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "report/formatting.h"
#include "report/printers.h"
#include "report/report_document.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using Lines = std::vector<std::string>;

constexpr std::size_t kLabel = 6;       // columns of a short title and the blanks after it: "why   "
constexpr std::size_t kNarrowest = 40;  // columns; a narrower page would be unreadable
constexpr std::size_t kLeast = 12;      // columns of text
constexpr std::size_t kBelow = 2;       // indentation of content below a title
constexpr std::size_t kGap = 2;         // columns between the cells of a table
constexpr std::size_t kTableRows = 200;
constexpr std::size_t kFewRows = 5;
constexpr std::size_t kAroundTable = 10;  // lines on a screen: rule, titles, how many more, programs, a prompt

// From the most that a large terminal shows to the least; the second is the usual one.
constexpr doc::Extent kExtents[] = {{4, 3, 3}, {2, 3, 3}, {2, 3, 2}, {2, 3, 1},
                                    {1, 3, 1}, {1, 2, 1}, {1, 1, 1}, {1, 1, 1, 0, 0}};
constexpr doc::Extent kUsual = kExtents[1];
constexpr doc::Extent kHeadline = {.reasons = 0, .remedies = 1, .steps = 0, .is_headline = true};
// The same for --all, for which a terminal has three screens. Files and pipes have the first.
constexpr doc::Extent kWhole[] = {{1000, 3, 3, 3, 8, false, true, true}, {1000, 3, 3, 1, 8, false, true, true},
                                  {1000, 3, 3, 1, 3, false, true, true}, {1000, 3, 3, 0, 3, false, true, true},
                                  {1000, 3, 2, 0, 3, false, true, true}, {1000, 3, 1, 0, 0, false, true, true}};

// Codes of ANSI colours.
constexpr const char* kPlain = "";
constexpr const char* kStrong = "1";
constexpr const char* kFaint = "2";
constexpr const char* kBad = "1;31";
constexpr const char* kTitle = "1;36";

// The colour of the text, by the kind of its first words.
const char* ColourOf(const doc::Spans& spans, const char* usual = kPlain) {
  switch (spans.empty() ? doc::Span::Kind::kText : spans.front().kind) {
    case doc::Span::Kind::kFaint:
      return kFaint;
    case doc::Span::Kind::kGood:
      return "32";
    case doc::Span::Kind::kCareful:
      return "33";
    case doc::Span::Kind::kBad:
      return kBad;
    default:
      return usual;
  }
}

// The rows of a terminal that the lines fill.
std::size_t RowsOf(const Lines& lines, std::size_t width) {
  std::size_t rows = 0;
  for (const std::string& line : lines) rows += std::max<std::size_t>(1, (DisplayWidth(line) + width - 1) / width);
  return rows;
}

// Converts blocks to lines.
class TextRenderer {
 public:
  explicit TextRenderer(const TextOptions& options)
      : TextRenderer(options, std::max(options.width, kNarrowest), true) {}

  TextRenderer& Add(std::span<const doc::Block> blocks) {
    for (const doc::Block& block : blocks) std::visit(*this, block.content);
    return *this;
  }

  TextRenderer& AddReport(const Report& report) {
    const ReportDocument document = MakeDocument(report);
    const bool is_brief = options_.detail == Detail::kBrief;
    const bool none = document.failures.empty();
    const bool is_large = document.whole < document.failures.size();
    const bool is_screen = options_.rows > 0 && options_.detail == Detail::kUsual && is_large;
    if (none ? options_.notes : !is_brief || is_large)
      Add(std::span(document.head).first(is_screen ? 1 : document.head.size()));
    const std::size_t whole = options_.detail == Detail::kAll       ? document.failures.size()
                              : is_large && (is_brief || is_screen) ? 0
                                                                    : document.whole;
    for (std::size_t i = 0; i < whole; ++i) {
      is_brief ? Blank() : Rule();
      AddFailure(*document.failures[i]);
    }
    if (whole < document.failures.size() && !is_brief) {
      if (is_screen) {
        const std::size_t other =
            RowsOf(lines_, width_) + RowsOf(TextRenderer(options_).Add(document.notes).lines_, width_);
        table_rows_ = std::max(kFewRows, options_.rows - std::min(options_.rows, other + kAroundTable));
      }
      Rule();
      Add(document.table);
    }
    if (is_screen && !report.programs.empty()) {
      Blank();
      Print(Counted(report.programs.size(), "program fits", "programs fit") + " in HBM: --all", kFaint);
    }
    for (std::size_t i = 0; !is_screen && i < document.programs.size(); ++i) {
      Blank();
      Add(document.programs[i]);
    }
    if (!options_.notes) return *this;
    if (!document.notes.empty() && (!none || !document.programs.empty())) Blank();
    return Add(document.notes);
  }

  std::string Take() const {
    return WithoutCommands(lines_.empty() ? "" : fmt::format("{}\n", fmt::join(lines_, "\n")));
  }

  void operator()(const doc::Verdict& verdict) {
    is_compact_ = false;
    const std::size_t columns = verdict.code.empty() ? 0 : DisplayWidth(verdict.code) + kGap;
    TextRenderer behind = Behind(columns);
    behind.Print(doc::PlainText(verdict.title), ColourOf(verdict.title, kStrong));
    for (const doc::Spans& note : verdict.notes) behind(doc::Paragraph{note});
    Hang(Styled(verdict.code, kBad), DisplayWidth(verdict.code), columns, behind.lines_);
    if (const doc::Paragraph facts = doc::Inline(verdict.facts); !facts.text.empty()) (*this)(facts);
  }

  // A short title stands next to the content, a longer one above it.
  void operator()(const doc::Section& section) {
    const bool is_beside = is_top_ && DisplayWidth(section.title) < kLabel && !section.title.empty();
    const bool is_compact = is_beside && std::none_of(section.blocks.begin(), section.blocks.end(), NeedsRoom);
    if (!(std::exchange(is_compact_, is_compact) && is_compact)) Blank();
    if (!is_beside && !section.title.empty()) Print(section.title, is_top_ ? kTitle : kStrong);
    const std::string lead = is_beside ? section.title : "";
    const std::size_t columns = is_beside ? kLabel : section.title.empty() ? 0 : kBelow;
    Hang(Styled(lead, kTitle), DisplayWidth(lead), columns, Behind(columns).Add(section.blocks).lines_);
  }

  void operator()(const doc::Paragraph& paragraph) { Print(doc::PlainText(paragraph.text), ColourOf(paragraph.text)); }

  void operator()(const doc::List& list) {
    using Style = doc::List::Style;
    std::size_t widest = 0;
    for (const doc::Item& item : list.items) widest = std::max(widest, DisplayWidth(doc::PlainText(item.label)));
    for (const doc::Item& item : list.items) {
      const bool is_bullet = list.style == Style::kBullets;
      const bool is_numbered = list.style == Style::kNumbered;
      const std::string label = doc::PlainText(item.label);
      const std::size_t columns = !is_bullet ? widest + kGap : label.empty() ? 0 : DisplayWidth(label) + 1;
      TextRenderer behind = Behind(columns);
      behind.Print(doc::PlainText(item.text), is_numbered ? kStrong : ColourOf(item.text));
      Hang(Styled(label, is_bullet ? ColourOf(item.label) : kStrong), DisplayWidth(label), columns, behind.lines_);
      const std::size_t below = is_numbered ? columns : kBelow;
      Hang("", 0, below, Behind(below).Add(item.blocks).lines_);
    }
  }

  void operator()(const doc::Table& table) {
    const std::vector<std::size_t> widths = WidthsOf(table);
    if (widths.empty()) return AddAsList(table);
    std::vector<std::string> cells;
    for (const doc::Column& column : table.columns) cells.push_back(column.title);
    AddRow(table, widths, cells, kFaint);
    const std::size_t shown = std::min(table.rows.size(), table_rows_);
    for (std::size_t i = 0; i < shown; ++i) {
      cells.clear();
      for (const doc::Spans& cell : table.rows[i]) cells.push_back(doc::PlainText(cell));
      AddRow(table, widths, cells, kPlain);
    }
    const doc::Paragraph left_out = doc::LeftOut(table.left_out + table.rows.size() - shown);
    if (!left_out.text.empty()) (*this)(left_out);
  }

  // Never wrapped, because a broken command cannot be copied; the terminal wraps it if necessary.
  void operator()(const doc::Code& code) {
    for (const doc::Span& line : code.lines) lines_.push_back(Styled(Printable(line.text), ColourOf({line})));
  }

 private:
  TextRenderer(const TextOptions& options, std::size_t width, bool is_top)
      : options_(options), width_(width), is_top_(is_top) {}

  // For content that `columns` are printed before.
  TextRenderer Behind(std::size_t columns) const {
    TextRenderer behind(options_, width_ > columns + kLeast ? width_ - columns : kLeast, false);
    behind.table_rows_ = table_rows_;
    return behind;
  }

  std::string Styled(std::string_view text, const char* colour) const {
    if (!options_.colour || text.empty() || *colour == '\0') return std::string(text);
    return fmt::format("\x1b[{}m{}\x1b[0m", colour, text);
  }

  void Print(std::string_view text, const char* colour) {
    for (const std::string& line : Wrap(text, width_)) lines_.push_back(Styled(line, colour));
  }

  // Adds the lines, the first with `lead` before it and all indented by `columns`.
  void Hang(const std::string& lead, std::size_t lead_width, std::size_t columns, const Lines& lines) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      std::string line = i == 0 ? lead : "";
      if (!lines[i].empty()) line.append(columns - (i == 0 ? lead_width : 0), ' ').append(lines[i]);
      lines_.push_back(std::move(line));
    }
  }

  void Blank() {
    if (!lines_.empty() && !lines_.back().empty()) lines_.emplace_back();
  }

  void Rule() {
    if (lines_.empty()) return;
    std::string rule;
    for (std::size_t i = 0; i < width_; ++i) rule += "─";
    Blank();
    lines_.push_back(Styled(rule, kFaint));
    Blank();
  }

  static bool NeedsRoom(const doc::Block& block) {
    const auto* list = std::get_if<doc::List>(&block.content);
    return list != nullptr ? list->style == doc::List::Style::kNumbered
                           : std::holds_alternative<doc::Table>(block.content);
  }

  // A single failure fits the terminal, if that is possible without cutting a text.
  void AddFailure(const Failure& failure) {
    if (options_.detail == Detail::kBrief) return void(Add(FirstBlocks(failure, kHeadline)));
    const bool all = options_.detail == Detail::kAll;
    if (options_.rows == 0) return void(AddBlocksOf(failure, all ? kWhole[0] : kUsual));
    const auto fits = [&](const doc::Extent& extent) {
      TextRenderer trial({.width = width_, .rows = options_.rows, .detail = options_.detail});
      return RowsOf(trial.AddBlocksOf(failure, extent).lines_, width_) < options_.rows * (all ? 3 : 1);
    };
    const std::span<const doc::Extent> extents = all ? std::span<const doc::Extent>(kWhole) : kExtents;
    AddBlocksOf(failure, *std::find_if(extents.begin(), extents.end() - 1, fits));
  }

  TextRenderer& AddBlocksOf(const Failure& failure, const doc::Extent& extent) {
    Add(FirstBlocks(failure, extent));
    return options_.detail == Detail::kAll ? Add(MoreBlocks(failure, extent)) : *this;
  }

  // The columns share the width. The widest one with words becomes narrower until all fit. Returns no widths if the
  // words of a column that must stay whole do not fit.
  std::vector<std::size_t> WidthsOf(const doc::Table& table) const {
    std::vector<std::size_t> widths;
    std::vector<std::size_t> least(table.columns.size(), 0);
    std::size_t all = 0;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      widths.push_back(DisplayWidth(table.columns[i].title));
      for (const std::vector<doc::Spans>& row : table.rows) {
        const std::string cell = doc::PlainText(row[i]);
        widths[i] = std::max(widths[i], DisplayWidth(cell));
        for (const std::string& word : table.columns[i].is_whole ? Wrap(cell, 0) : Lines())
          least[i] = std::max(least[i], DisplayWidth(word));
      }
      all += widths[i] + (i == 0 ? 0 : kGap);
    }
    const auto room = [&](std::size_t i) {
      return table.columns[i].is_number || widths[i] <= least[i] ? 0 : widths[i];
    };
    for (; all > width_; --all) {
      std::size_t widest = 0;
      for (std::size_t i = 1; i < widths.size(); ++i) widest = room(i) > room(widest) ? i : widest;
      if (room(widest) <= kLeast) return *std::ranges::max_element(least) == 0 ? widths : std::vector<std::size_t>();
      --widths[widest];
    }
    return widths;
  }

  // "- size: 2.00 GiB · remedy: bf16"
  void AddAsList(const doc::Table& table) {
    doc::List list;
    for (const std::vector<doc::Spans>& row : table.rows) {
      std::vector<doc::Spans> cells;
      for (std::size_t i = 0; i < row.size(); ++i)
        if (!row[i].empty()) cells.push_back(doc::Joined({doc::Words(table.columns[i].title + ": "), row[i]}));
      list.items.push_back({.text = doc::Joined(cells, " · "), .label = doc::Words("-")});
    }
    (*this)(list);
    (*this)(doc::LeftOut(table.left_out));
  }

  // Wraps the cells in their columns. Only on a terminal, cuts words that are too wide in the middle.
  void AddRow(const doc::Table& table, const std::vector<std::size_t>& widths, const std::vector<std::string>& cells,
              const char* colour) {
    std::vector<Lines> lines;
    std::size_t most = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      lines.push_back(Wrap(cells[i], widths[i]));
      most = std::max(most, lines.back().size());
    }
    for (std::size_t at = 0; at < most; ++at) {
      std::string text;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        std::string cell = at < lines[i].size() ? lines[i][at] : "";
        if (options_.rows > 0) cell = Shorten(cell, widths[i]);
        const std::string blanks(widths[i] - std::min(widths[i], DisplayWidth(cell)), ' ');
        text += (i == 0 ? "" : "  ") + (table.columns[i].is_number ? blanks + cell : cell + blanks);
      }
      text.erase(text.find_last_not_of(' ') + 1);
      lines_.push_back(Styled(text, colour));
    }
  }

  TextOptions options_;
  std::size_t width_;
  bool is_top_;  // not below a title or an item
  std::size_t table_rows_ = kTableRows;
  bool is_compact_ = false;  // the last section has short texts next to its title
  Lines lines_;
};

}  // namespace

std::string PrintText(const Report& report, const TextOptions& options) {
  return TextRenderer(options).AddReport(report).Take();
}

std::string PrintFailure(const Failure& failure) { return PrintBlocks(FirstBlocks(failure, kUsual), TextOptions()); }

std::string PrintShort(const Failure& failure) {
  constexpr std::size_t kLongest = 4000;
  return CutBytes(PrintBlocks(FirstBlocks(failure, kExtents[3]), {.width = kLongest}), kLongest);
}

std::string PrintBlocks(const doc::Blocks& blocks, const TextOptions& options) {
  return TextRenderer(options).Add(blocks).Take();
}

}  // namespace whyoom
