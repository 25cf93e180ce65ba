#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/run_context.h"
#include "facts/evidence.h"
#include "input/byte_source.h"
#include "report/failure_view.h"
#include "text/regex_options.h"
#include "text/secrets.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLines = 3;      // per diagnosis
constexpr std::size_t kFailures = 50;  // with lines
constexpr std::size_t kMostBytes = std::size_t{4} << 20;
constexpr std::size_t kLongestShown = 200;

// The full path of a file that the diagnosis names only by its last part.
std::string FullPath(const Failure& failure, const std::string& name) {
  for (const Allocation& row : failure.allocations) {
    if (row.source_file.ends_with("/" + name)) return row.source_file;
  }
  const std::string call = failure.facts.Text("user_source_path");
  return call.ends_with("/" + name) ? call : name;
}

// The places "train.py:41" in its first reason and remedy, and its largest allocation.
std::vector<SourcePlace> NamedPlaces(const Failure& failure) {
  static const Regex place(R"(([\w./@+-]+\.py):(\d{1,7})\b)");
  std::string text = failure.why.empty() ? "" : failure.why.front().text;
  if (!failure.remedies.empty()) {
    for (const std::string& step : failure.remedies.front().how) text += "\n" + step;
  }
  std::vector<SourcePlace> places;
  std::string path;
  std::int64_t line = 0;
  for (re2::StringPiece rest = text; re2::RE2::FindAndConsume(&rest, place, &path, &line);)
    places.push_back({path, line});
  if (const std::optional<SourcePlace> largest = UserSource(failure)) places.push_back(*largest);
  return places;
}

// The longest end of `path` that exists below `root`, and its text. Empty if there is none, or if it cannot be read.
std::pair<std::string, std::string> TextOf(const fs::path& root, const std::string& path) {
  const fs::path parts = fs::path(path).lexically_normal().relative_path();
  if (parts.extension() != ".py") return {};
  for (auto from = parts.begin(); from != parts.end(); ++from) {
    fs::path end;
    for (auto part = from; part != parts.end(); ++part) end /= *part;
    std::error_code error;
    if (fs::exists(root / end, error)) return {end, ReadBelow(root, root / end, kMostBytes)};
  }
  return {};
}

// A line, without its indentation; empty if there is none.
std::string LineIn(const std::string& text, std::int64_t line) {
  std::istringstream lines(text);
  std::string found;
  for (std::int64_t at = 0; at < line; ++at) {
    if (!std::getline(lines, found)) return {};
  }
  found = Printable(found);
  found.erase(0, std::min(found.find_first_not_of(" \t"), found.size()));
  return CutBytes(MaskSecrets(found), kLongestShown);
}

void AddLines(const fs::path& root, Failure* failure) {
  for (const SourcePlace& place : NamedPlaces(*failure)) {
    const std::string name = BaseName(place.path);
    const auto is_same = [&](const CodeLine& one) { return one.file == name && one.line == place.line; };
    if (failure->code.size() == kLines || std::any_of(failure->code.begin(), failure->code.end(), is_same)) continue;
    if (IsLibraryPath(place.path)) continue;
    const auto [path, text] = TextOf(root, place.path == name ? FullPath(*failure, name) : place.path);
    const std::string code = LineIn(text, place.line);
    if (!code.empty()) failure->code.push_back({name, place.line, code, path});
  }
}

}  // namespace

void AddSourceLines(const std::string& root, Report* report) {
  std::error_code error;
  const fs::path real = root.empty() ? fs::path() : fs::canonical(root, error);
  if (error || real.empty()) return;
  for (std::size_t i = 0; i < std::min(report->failures.size(), kFailures); ++i) AddLines(real, &report->failures[i]);
}

}  // namespace whyoom
