#include "text/secrets.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "text/embedded.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using nlohmann::json;
using re2::RE2;

// Begin and end of a secret in a text.
using TextRange = std::pair<std::size_t, std::size_t>;

const json& Data() {
  static const json data = json::parse(EmbeddedSecrets().front().text);
  return data;
}

// The expression, whose pieces are joined, with the named pieces in it.
std::string Expand(const json& expression) {
  std::string joined;
  for (const json& piece : expression.is_array() ? expression : json::array({expression}))
    joined += piece.get_ref<const std::string&>();
  for (const auto& [name, piece] : Data()["pieces"].items()) {
    const std::string reference = "%" + name + "%";
    for (std::size_t at = 0; (at = joined.find(reference, at)) != std::string::npos;)
      joined.replace(at, reference.size(), "(?:" + Expand(piece) + ")");
  }
  return joined;
}

RE2::Options Bytes() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(RE2::Options::EncodingLatin1);
  return options;
}

// A secret that is recognized without a name.
class Form {
 public:
  explicit Form(const json& entry) : entry_(entry) {}

  // Whether the text contains a keyword of the form.
  bool MayBeIn(std::string_view lower) const {
    const json& keywords = entry_["keywords"];
    return std::any_of(keywords.begin(), keywords.end(), [&](const json& keyword) {
      return lower.find(keyword.get_ref<const std::string&>()) != std::string_view::npos;
    });
  }

  void Find(std::string_view text, std::vector<TextRange>* secrets) const {
    std::call_once(made_, [this] {
      regex_.emplace(Expand(entry_["pattern"]), Bytes());
      unless_.emplace(Expand("(?s)%masked%|" + entry_.value("unless", "")), Bytes());
    });
    re2::StringPiece groups[2];
    for (std::size_t at = 0; at < text.size() && regex_->Match(text, at, text.size(), RE2::UNANCHORED, groups, 2);) {
      const auto begin = static_cast<std::size_t>(groups[1].data() - text.data());
      const std::size_t end = begin + groups[1].size();
      if (end > begin && !RE2::FullMatch(groups[1], *unless_)) secrets->emplace_back(begin, end);
      at = std::max(end, at + 1);
    }
  }

 private:
  const json& entry_;
  mutable std::once_flag made_;
  mutable std::optional<RE2> regex_;  // compiled on first use
  mutable std::optional<RE2> unless_;
};

// Secrets that are the value of a name.
class NamedSecrets {
 public:
  NamedSecrets()
      : name_(Expand(Data()["names"]["pattern"]), Bytes()),
        scheme_(Expand(Data()["names"]["scheme"]), Bytes()),
        end_(Expand(Data()["names"]["end"]), Bytes()),
        end_in_url_(Expand(Data()["names"]["end_in_url"]), Bytes()),
        verdicts_(Bytes(), RE2::ANCHOR_BOTH) {
    for (const json& entry : Data()["verdicts"]["table"]) {
      std::string pattern = "(?s)";
      for (const char* field : {"before", "word", "behind", "join", "scheme", "value"})
        pattern += "(?:" + (entry.contains(field) ? Expand(entry[field]) : "[^\\a]*") + ")\\a";
      verdicts_.Add(pattern, nullptr);
      is_secret_.push_back(entry["secret"]);
    }
    verdicts_.Compile();
  }

  void Find(std::string_view text, std::vector<TextRange>* secrets) const {
    re2::StringPiece groups[kGroups];
    for (std::size_t at = 0;
         at < text.size() && name_.Match(text, at, text.size(), RE2::UNANCHORED, groups, kGroups);) {
      const re2::StringPiece* const whole =
          std::find_if(groups + kFirstValue, groups + kBareValue, [](const auto& g) { return g.data() != nullptr; });
      re2::StringPiece value = *whole;
      RE2::Consume(&value, scheme_);
      re2::StringPiece end;
      const bool in_url =
          groups[0].data() > text.data() && (groups[0].data()[-1] == '?' || groups[0].data()[-1] == '&');
      if (whole == groups + kBareValue &&
          (in_url ? end_in_url_ : end_).Match(value, 0, value.size(), RE2::UNANCHORED, &end, 1))
        value.remove_suffix(static_cast<std::size_t>(value.end() - end.begin()));
      const re2::StringPiece join(groups[4].data(), static_cast<std::size_t>(whole->data() - groups[4].data()));
      const re2::StringPiece scheme(whole->data(), static_cast<std::size_t>(value.data() - whole->data()));
      const auto begin = static_cast<std::size_t>(value.data() - text.data());
      if (IsSecret({groups[1], groups[2], groups[3], join, scheme, value})) {
        at = begin + value.size();
        secrets->emplace_back(begin, at);
      } else {
        at = static_cast<std::size_t>(whole->data() - text.data());
      }
    }
  }

 private:
  static constexpr int kFirstValue = 5;  // group of `name_`
  static constexpr int kBareValue = 9;
  static constexpr int kGroups = 10;

  // The first verdict that matches the fields decides.
  bool IsSecret(const std::array<re2::StringPiece, 6>& fields) const {
    if (fields.back().empty()) return false;
    std::string subject;
    for (const re2::StringPiece& field : fields) subject.append(field.data(), field.size()).push_back('\a');
    std::vector<int> matching;
    if (!verdicts_.Match(subject, &matching)) return true;
    return is_secret_[static_cast<std::size_t>(*std::min_element(matching.begin(), matching.end()))];
  }

  RE2 name_;
  RE2 scheme_;
  RE2 end_;
  RE2 end_in_url_;
  RE2::Set verdicts_;
  std::vector<bool> is_secret_;
};

}  // namespace

std::string MaskSecrets(std::string_view text) {
  static const json& table = Data()["forms"]["table"];
  static const std::deque<Form> forms(table.begin(), table.end());
  static const Form names(Data()["names"]);
  std::vector<TextRange> secrets;
  const std::string lower = LowerAscii(text);
  for (const Form& form : forms) {
    if (form.MayBeIn(lower)) form.Find(text, &secrets);
  }
  if (names.MayBeIn(lower)) {
    static const NamedSecrets named;
    named.Find(text, &secrets);
  }
  std::sort(secrets.begin(), secrets.end());
  std::string masked;
  std::size_t done = 0;
  for (const auto& [begin, end] : secrets) {
    if (begin >= done) masked.append(text.substr(done, begin - done)).append(kMasked);
    done = std::max(done, end);
  }
  return masked.append(text.substr(done));
}

}  // namespace whyoom
