// A page of plain text, laid out as it is written: paragraphs beside labels, lists, figures. No line is wider than the
// page, long names aside. For every printer of text, so that their pages look alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

// How much is told of each failure: what a page has room for, one line, or all there is.
enum class Detail { kUsual, kBrief, kAll };

struct TextOptions {
  std::size_t width = 80;  // columns; what comes out is never wider, long names aside
  bool colour = false;     // ANSI colours; the only control characters ever printed
  Detail detail = Detail::kUsual;
  bool notes = true;  // what is told beside the failures: that there are none, what could not be read, …
};

// The few styles of text output. Without colour each is the text itself.
class Style {
 public:
  explicit Style(bool colour) : colour_(colour) {}

  std::string Error(std::string_view text) const { return Wrap("1;31", text); }
  std::string Strong(std::string_view text) const { return Wrap("1", text); }
  std::string Good(std::string_view text) const { return Wrap("32", text); }
  std::string Warning(std::string_view text) const { return Wrap("33", text); }
  std::string Faint(std::string_view text) const { return Wrap("2", text); }
  std::string Label(std::string_view text) const { return Wrap("1;36", text); }

 private:
  std::string Wrap(std::string_view code, std::string_view text) const;

  bool colour_;
};

class TextPage {
 public:
  static constexpr std::size_t kIndent = 6;  // columns of a label and the blanks behind it: "why   "

  explicit TextPage(const TextOptions& options);

  std::size_t width() const { return width_; }
  bool empty() const { return out_.empty(); }
  const Style& style() const { return style_; }

  // One line as it is: styled already, and no wider than the page.
  void Line(std::string_view styled);
  // The same behind the column of labels.
  void IndentedLine(std::string_view styled);
  void Blank() { out_ += '\n'; }
  // Parts what stands on the page from what comes; nothing at its begin.
  void Rule();

  // "E1000  HBM out of memory at compile time".
  void Title(std::string_view name, std::string_view title);
  // An empty line, and a heading of its own line.
  void Heading(std::string_view text);

  // A paragraph of which every line stands behind `column` blanks, in one style.
  using Look = std::string (Style::*)(std::string_view) const;
  void Paragraph(std::string_view text, std::size_t column = 0, Look look = nullptr);
  // A paragraph beside `label`, which stands in front of its first line only.
  void Beside(std::string_view label, std::string_view text);
  // The same with `label` in bold, and the paragraph behind `column` or the label, whichever is wider.
  void Item(std::string_view label, std::size_t column, std::string_view text);
  void Step(std::size_t column, std::string_view text);  // "→ text"
  void Warning(std::string_view text);

  // The page; call once, at the end.
  std::string Take() { return std::move(out_); }

 private:
  std::size_t width_;
  Style style_;
  std::string out_;
};

// "a · b · c".
std::string Joined(const std::vector<std::string>& items);

}  // namespace whyoom
