#include "report/html/html_page.h"

#include <string_view>

#include "report/encodings.h"
#include "report/html/html_assets.h"
#include "rules/sha256.h"

namespace whyoom {
namespace {

// Of a content security policy: "'sha256-…'".
std::string SourceHash(std::string_view text) {
  const std::string hex = Sha256Hex(text);
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return "'sha256-" + ToBase64(bytes) + "'";
}

// A drop with a bar in it: without one, a browser asks the server of the page.
constexpr const char* kIcon =
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' "
    "rx='3' fill='%232f6db3'/%3E%3Cpath d='M3 5h10v2H3zM3 9h6v2H3z' fill='%23fff'/%3E%3C/svg%3E";

}  // namespace

// `script` and `style` as parsers of HTML and of XML both read them: what is hashed is what the browser sees.
void AddHead(const std::string& title, bool with_script, HtmlWriter* html) {
  const std::string style(PageStyle());
  const std::string script(PageScript());
  std::string policy =
      "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src " + SourceHash(style);
  if (with_script) policy += "; script-src " + SourceHash(script);
  const auto head = html->Block("head");
  html->Empty("meta", {{"charset", "utf-8"}});
  html->Empty("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", policy}});
  html->Empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  html->Empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  html->Element("title", title + " · whyoom");
  html->Empty("link", {{"rel", "icon"}, {"href", kIcon}});
  {
    const auto in = html->In("style");
    html->Verbatim(style);
  }
  if (!with_script) return;
  const auto in = html->In("script", {{"type", "module"}});
  html->Verbatim(script);
}

void AddPatterns(HtmlWriter* html) {
  const auto svg =
      html->Block("svg", {{"class", "patterns"}, {"width", "0"}, {"height", "0"}, {"aria-hidden", "true"}});
  const auto defs = html->In("defs");
  const auto pattern = html->In("pattern", {{"id", "hatch"},
                                            {"width", "6"},
                                            {"height", "6"},
                                            {"patternUnits", "userSpaceOnUse"},
                                            {"patternTransform", "rotate(45)"}});
  html->Empty("rect", {{"class", "hatching"}, {"width", "3"}, {"height", "6"}});
}

}  // namespace whyoom
