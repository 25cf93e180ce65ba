#include "text/secrets.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "text/embedded.h"
#include "text/regex_options.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using nlohmann::json;
using re2::RE2;
using re2::StringPiece;

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

// Whether the text contains a keyword of the entry.
bool MayContain(const json& entry, std::string_view lower) {
  const json& keywords = entry["keywords"];
  return std::any_of(keywords.begin(), keywords.end(), [&](const json& keyword) {
    return lower.find(keyword.get_ref<const std::string&>()) != std::string_view::npos;
  });
}

// A secret that is recognized without a name.
struct Form {
  explicit Form(const json& table_entry)
      : entry(table_entry),
        pattern(Expand(entry["pattern"])),
        unless(Expand("(?s)%masked%|" + entry.value("unless", ""))) {}

  void Find(std::string_view text, std::vector<TextRange>* secrets) {
    StringPiece groups[2];
    for (std::size_t at = 0;
         at < text.size() && compiled.Of(pattern).Match(text, at, text.size(), RE2::UNANCHORED, groups, 2);) {
      const std::size_t begin = OffsetIn(text, groups[1]);
      const std::size_t end = begin + groups[1].size();
      if (end > begin && !RE2::FullMatch(groups[1], compiled_unless.Of(unless))) secrets->emplace_back(begin, end);
      at = std::max(end, at + 1);
    }
  }

  const json& entry;
  std::string pattern;
  std::string unless;
  LazyRegex compiled;
  LazyRegex compiled_unless;
};

// Secrets that are the value of a name.
class NamedSecrets {
 public:
  NamedSecrets() {
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
    constexpr int kFirstValue = 5;  // group of `name_`
    constexpr int kBareValue = 9;
    StringPiece groups[kBareValue + 1];
    for (std::size_t at = 0;
         at < text.size() && name_.Match(text, at, text.size(), RE2::UNANCHORED, groups, kBareValue + 1);) {
      const StringPiece& whole =
          *std::find_if(groups + kFirstValue, groups + kBareValue, [](const auto& g) { return g.data() != nullptr; });
      StringPiece value = whole;
      RE2::Consume(&value, scheme_);
      const std::size_t name_at = OffsetIn(text, groups[0]);
      const bool in_url = name_at > 0 && (text[name_at - 1] == '?' || text[name_at - 1] == '&');
      StringPiece end;
      if (&whole == groups + kBareValue &&
          (in_url ? end_in_url_ : end_).Match(value, 0, value.size(), RE2::UNANCHORED, &end, 1))
        value.remove_suffix(value.size() - OffsetIn(value, end));
      const std::size_t begin = OffsetIn(text, value);
      at = OffsetIn(text, whole);
      const StringPiece join = text.substr(OffsetIn(text, groups[4]), at - OffsetIn(text, groups[4]));
      if (!IsSecret({groups[1], groups[2], groups[3], join, text.substr(at, begin - at), value})) continue;
      at = begin + value.size();
      secrets->emplace_back(begin, at);
    }
  }

 private:
  // The first verdict that matches the fields decides.
  bool IsSecret(std::initializer_list<StringPiece> fields) const {
    std::string subject;
    for (const StringPiece& field : fields) subject.append(field.data(), field.size()).push_back('\a');
    std::vector<int> matching;
    if (!verdicts_.Match(subject, &matching)) return true;
    return is_secret_[static_cast<std::size_t>(*std::min_element(matching.begin(), matching.end()))];
  }

  const json& names_ = Data()["names"];
  RE2 name_{Expand(names_["pattern"]), RE2::Latin1};
  RE2 scheme_{Expand(names_["scheme"]), RE2::Latin1};
  RE2 end_{Expand(names_["end"]), RE2::Latin1};
  RE2 end_in_url_{Expand(names_["end_in_url"]), RE2::Latin1};
  RE2::Set verdicts_{RE2::Latin1, RE2::ANCHOR_BOTH};
  std::vector<bool> is_secret_;
};

}  // namespace

std::string MaskSecrets(std::string_view text) {
  static const json& table = Data()["forms"]["table"];
  static std::deque<Form> forms(table.begin(), table.end());
  std::vector<TextRange> secrets;
  const std::string lower = LowerAscii(text);
  for (Form& form : forms) {
    if (MayContain(form.entry, lower)) form.Find(text, &secrets);
  }
  if (MayContain(Data()["names"], lower)) {
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
