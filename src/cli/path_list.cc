#include "cli/path_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "input/error.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// Longer than any system takes, even where each byte is escaped.
constexpr std::size_t kLongestEntry = std::size_t{64} << 10;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::optional<std::string> PercentDecoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = high < 0 ? -1 : HexDigit(text[i + 2]);
    if (low < 0) return std::nullopt;
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

class ListReader {
 public:
  ListReader(const std::string& path, PathListForm form, const std::function<bool(const std::string&)>& visit)
      : path_(path), form_(form), visit_(visit) {}

  void Read(ByteSource& source) {
    const char end = form_ == PathListForm::kNull ? '\0' : '\n';
    std::array<char, 65536> buffer;
    while (std::size_t count = source.Read(buffer.data(), buffer.size())) {
      for (std::string_view rest(buffer.data(), count); !rest.empty();) {
        const std::size_t at = rest.find(end);
        Append(rest.substr(0, at));
        if (at == rest.npos) break;
        if (!TakeEntry()) return;
        rest.remove_prefix(at + 1);
      }
    }
    if (!entry_.empty()) TakeEntry();
  }

  std::uint64_t entries() const { return number_; }

  void Tell(const std::function<void(const Problem&)>& problem) const {
    for (const auto& [what, fault] : faults_) {
      const std::string others = fault.count == 1 ? "" : fmt::format(" and {} more", fault.count - 1);
      problem({path_, "", fmt::format("entry {}{}: {}", fault.first, others, what)});
    }
  }

 private:
  struct Fault {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };

  void Append(std::string_view piece) {
    entry_ += piece.substr(0, kLongestEntry + 1 - std::min(entry_.size(), kLongestEntry + 1));
  }

  // False where no more is wanted.
  bool TakeEntry() {
    if (++number_ == 1 && form_ != PathListForm::kNull && entry_.starts_with(kByteOrderMark))
      entry_.erase(0, kByteOrderMark.size());
    if (form_ != PathListForm::kNull && entry_.ends_with('\r')) entry_.pop_back();
    std::string name;
    const char* fault = entry_.size() > kLongestEntry ? "too long for a path" : NameOf(entry_, &name);
    entry_.clear();
    if (fault != nullptr) {
      Fault& told = faults_[fault];
      if (told.count++ == 0) told.first = number_;
      return true;
    }
    if (name == "-") name = "./-";
    return name.empty() || visit_(name);
  }

  // What is wrong with the entry; null where nothing is.
  const char* NameOf(const std::string& entry, std::string* name) const {
    *name = entry;
    if (form_ == PathListForm::kNull || entry.empty()) return nullptr;
    if (form_ == PathListForm::kJsonl) {
      const nlohmann::json json = nlohmann::json::parse(entry, nullptr, false);
      const auto* text = json.get_ptr<const std::string*>();
      if (text == nullptr) return "no JSON string";
      *name = *text;
    }
    if (!DecodeFileUri(std::string(*name), name)) return "a file: URI of another machine or with a bad escape";
    return name->find('\0') == name->npos ? nullptr : "no path has a NUL in it";
  }

  const std::string& path_;
  const PathListForm form_;
  const std::function<bool(const std::string&)>& visit_;
  std::string entry_;  // as far as it was read
  std::uint64_t number_ = 0;
  std::map<std::string, Fault> faults_;
};

}  // namespace

bool DecodeFileUri(std::string_view text, std::string* path) {
  constexpr std::string_view kScheme = "file:/";
  constexpr std::string_view kLocal = "localhost/";
  if (!text.starts_with(kScheme)) {
    *path = text;
    return true;
  }
  text.remove_prefix(kScheme.size() - 1);
  if (text.starts_with("//")) {
    text.remove_prefix(2);
    if (text.starts_with(kLocal)) text.remove_prefix(kLocal.size() - 1);
    if (!text.starts_with('/')) return false;
  }
  std::optional<std::string> decoded = PercentDecoded(text);
  if (!decoded) return false;
  *path = *std::move(decoded);
  return true;
}

void ReadPathList(const std::string& path, ByteSource& source, PathListForm form,
                  const std::function<bool(const std::string&)>& visit,
                  const std::function<void(const Problem&)>& problem) {
  ListReader reader(path, form, visit);
  reader.Read(source);
  if (!source.problem().empty()) {
    // Without any name there is nothing to go on with.
    if (reader.entries() == 0) throw Error(fmt::format("{}: {}", Printable(path), source.problem()));
    problem({path, "", std::string(source.problem())});
  }
  reader.Tell(problem);
}

}  // namespace whyoom
