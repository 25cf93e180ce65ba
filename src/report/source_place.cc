#include "report/source_place.h"

#include <charconv>
#include <filesystem>
#include <string_view>

#include "facts/evidence.h"
#include "text/utf8.h"

namespace whyoom {

std::optional<SourcePlace> UserSource(const Failure& failure) {
  if (!failure.code.empty() && !failure.code.front().path.empty())
    return SourcePlace{Printable(failure.code.front().path), failure.code.front().line};
  const Allocation* largest = nullptr;
  for (const Allocation& row : failure.allocations) {
    if (largest == nullptr || row.size_bytes.value_or(0) > largest->size_bytes.value_or(0)) largest = &row;
  }
  const bool known = largest != nullptr && !largest->source_file.empty() && largest->source_line.value_or(0) > 0 &&
                     !IsLibraryPath(largest->source_file);
  if (known) return SourcePlace{Printable(largest->source_file), *largest->source_line};
  const std::string call = Printable(failure.facts.Text("user_source"));  // "train.py:41"
  SourcePlace place{Printable(failure.facts.Text("user_source_path")), 0};
  if (call.empty() || place.path.empty()) return std::nullopt;
  const std::string_view line = std::string_view(call).substr(call.rfind(':') + 1);  // all of it if there is no colon
  std::from_chars(line.data(), line.data() + line.size(), place.line);
  return place.line < 1 ? std::nullopt : std::optional(place);
}

std::optional<std::string> RelativeTo(const std::string& root, const std::string& path) {
  namespace fs = std::filesystem;
  fs::path normal = fs::path(path).lexically_normal();
  if (normal.is_absolute()) {
    if (root.empty()) return std::nullopt;
    normal = normal.lexically_relative(fs::path(root + "/").lexically_normal());
  }
  const std::string text = normal.generic_string();
  const bool is_file = !text.empty() && text != "." && text.front() != '<' && !text.starts_with("Cell In");
  if (!is_file || *normal.begin() == "..") return std::nullopt;
  return text;
}

}  // namespace whyoom
