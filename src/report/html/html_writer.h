// Writes HTML that is also well-formed XML: elements nest, text and attributes are escaped and printable. Element and
// attribute names are literals of the caller.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whyoom {

class HtmlWriter {
 public:
  using Attributes = std::vector<std::pair<std::string_view, std::string>>;

  // An open element, closed by the destructor. Scopes must be destroyed in nesting order.
  class [[nodiscard]] Scope {
   public:
    Scope(HtmlWriter* html, bool line) : html_(html), line_(line) {}
    ~Scope();
    Scope(Scope&& other) noexcept : html_(std::exchange(other.html_, nullptr)), line_(other.line_) {}

   private:
    HtmlWriter* html_;
    bool line_;
  };
  Scope In(std::string_view element, const Attributes& attributes = {}) { return Open(element, attributes, false); }
  // Like In, but ends the line after the element, so that the source is readable.
  Scope Block(std::string_view element, const Attributes& attributes = {}) { return Open(element, attributes, true); }

  void Empty(std::string_view element, const Attributes& attributes = {});
  void Element(std::string_view element, std::string_view text, const Attributes& attributes = {});
  void Heading(int level, std::string_view text, const Attributes& attributes = {});
  static std::string_view HeadingElement(int level);

  // Writes the header row of a table. Number columns are right-aligned. An empty title gives a plain cell.
  struct Column {
    const char* title;
    bool number = false;
  };
  void TableHead(const std::vector<Column>& columns);
  void Text(std::string_view text);
  void Words(std::string_view text);     // like Text, but never breaks a line between a figure and its unit
  void Verbatim(std::string_view html);  // well-formed markup of our own
  void Line() { html_ += '\n'; }

  std::string Take();  // all elements must be closed

 private:
  void Begin(std::string_view element, const Attributes& attributes);
  Scope Open(std::string_view element, const Attributes& attributes, bool line);
  void Close(bool line);

  std::string html_;
  std::vector<std::string_view> open_;
};

// Writes the element `head`.
void AddHead(const std::string& title, bool with_script, HtmlWriter* html);

// Writes the hatching pattern that drawings refer to. It must come first in the body.
void AddPatterns(HtmlWriter* html);

std::string_view PageStyle();
std::string_view PageScript();

}  // namespace whyoom
