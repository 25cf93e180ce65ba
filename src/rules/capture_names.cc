#include "rules/capture_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "text/quantity.h"

namespace whyoom {
namespace {

using Kind = MessagePiece::Kind;

constexpr std::size_t kMostCaptures = 12;
constexpr std::size_t kMostNameBytes = 32;

constexpr std::pair<SizeRole, std::string_view> kRoleWords[] = {
    {SizeRole::kUsed, " used uses using usage consumed occupied occupies allocated held holds "},
    {SizeRole::kNeeded, " need needs needed require requires required requirement demand demands demanded "},
    {SizeRole::kRequest,
     " request requests requested requesting want wants wanted ask asked asks allocate allocating allocation "
     "allocations alloc malloc reserve reserving grow growing map mapping trying "},
    {SizeRole::kLimit,
     " limit limits limited capacity max maximum cap budget quota threshold bound than exceed exceeds exceeded "
     "exceeding has of over offer offers offered provides "},
    {SizeRole::kFree, " free available left remaining remain remains unused allocatable spare "},
    {SizeRole::kExcess, " excess shortfall missing lacking short deficit "}};

constexpr std::pair<SizeRole, const char*> kRoleNames[] = {
    {SizeRole::kUsed, "used_bytes"},   {SizeRole::kNeeded, "needed_bytes"}, {SizeRole::kRequest, "request_bytes"},
    {SizeRole::kLimit, "limit_bytes"}, {SizeRole::kFree, "free_bytes"},     {SizeRole::kExcess, "excess_bytes"}};

constexpr std::string_view kProgramPrefixes[] = {"jit_", "pjit_", "pmap_", "xmap_", "shmap_"};

constexpr std::string_view kPrograms = " program plan module executable compilation compile ";

// Between what a figure is and the figure.
constexpr std::string_view kStopWords =
    " a an the of is are was were be to at in on for from with and or only just about it its that this there size "
    "sizes bytes byte memory total gb gib mb mib kb kib b by as still but not no more which would could cannot can "
    "not has have had due ";

// As JAX names a compiled program.
bool IsProgram(const std::string& text) {
  return std::any_of(std::begin(kProgramPrefixes), std::end(kProgramPrefixes),
                     [&](std::string_view prefix) { return text.starts_with(prefix); });
}

bool IsIn(std::string_view words, const std::string& word) {
  return words.find(" " + word + " ") != std::string_view::npos;
}

SizeRole RoleOf(const std::string& word) {
  for (const auto& [role, words] : kRoleWords) {
    if (IsIn(words, word)) return role;
  }
  return SizeRole::kNone;
}

// A word of the message, or a figure, or what ends a sentence.
struct NameToken {
  enum class Kind { kWord, kSize, kCount, kComma, kEnd };
  Kind kind = Kind::kWord;
  std::string word;       // in small letters
  std::size_t piece = 0;  // index
};

std::vector<NameToken> TokensOf(const std::vector<MessagePiece>& pieces) {
  std::vector<NameToken> tokens;
  const auto ends = [&](std::size_t i) {
    return i + 1 == pieces.size() || pieces[i + 1].kind == Kind::kBlank || pieces[i + 1].kind == Kind::kMark;
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const MessagePiece& piece = pieces[i];
    if (piece.kind == Kind::kWord) {
      std::string word;
      for (const char c : piece.text + "_") {
        if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
          word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        } else if (!word.empty()) {
          tokens.push_back({NameToken::Kind::kWord, std::exchange(word, ""), i});
        }
      }
    } else if (piece.kind == Kind::kCapture) {
      tokens.push_back({piece.type == "size" ? NameToken::Kind::kSize : NameToken::Kind::kCount, "", i});
    } else if (piece.kind == Kind::kMark && ends(i)) {
      const char c = piece.text[0];
      if (c == ',' || c == '(') tokens.push_back({NameToken::Kind::kComma, "", i});
      if (c == '.' || c == ';' || c == '!' || c == '?') tokens.push_back({NameToken::Kind::kEnd, "", i});
    }
  }
  return tokens;
}

class Namer {
 public:
  Namer(const CaptureNaming& naming, std::vector<MessagePiece>* pieces)
      : naming_(naming), pieces_(*pieces), tokens_(TokensOf(*pieces)) {}

  std::vector<NamedSize> Run() {
    MarkBytes();
    std::vector<NamedSize> sizes;
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      if (tokens_[at].kind != NameToken::Kind::kSize) continue;
      MessagePiece& piece = pieces_[tokens_[at].piece];
      const SizeRole role = RoleAt(at);
      piece.name = NameOfSize(role, at);
      ++captures_;
      const double bytes = static_cast<double>(ParseSize(piece.text).value_or(0));
      sizes.push_back({piece.name, role, bytes});
    }
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      if (tokens_[at].kind == NameToken::Kind::kCount) NameOther(at);
    }
    return sizes;
  }

 private:
  // "attempting to allocate 1228800001 over limit 1073741824": nobody counts that far but bytes.
  void MarkBytes() {
    constexpr std::size_t kDigits = 7;
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      if (tokens_[at].kind != NameToken::Kind::kCount) continue;
      MessagePiece& piece = pieces_[tokens_[at].piece];
      const auto digits =
          std::count_if(piece.text.begin(), piece.text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
      const bool is_count = piece.type == "integer" || piece.type == "bytes";
      if (!is_count || piece.text[0] == '-' || digits < static_cast<std::ptrdiff_t>(kDigits)) continue;
      if (RoleAt(at) == SizeRole::kNone && !IsOfMemory(at)) continue;
      piece.type = "bytes";
      piece.optional = false;
      tokens_[at].kind = NameToken::Kind::kSize;
    }
  }

  bool IsOfMemory(std::size_t at) const {
    const std::string word = at > 0 ? tokens_[at - 1].word : "";
    return word == "memory" || word == "size" || word == "bytes";
  }

  bool IsWord(std::size_t at) const { return at < tokens_.size() && tokens_[at].kind == NameToken::Kind::kWord; }

  bool HasBefore(std::size_t at, std::string_view words) const {
    while (at-- > 0 && tokens_[at].kind != NameToken::Kind::kEnd) {
      if (IsWord(at) && IsIn(words, tokens_[at].word)) return true;
    }
    return false;
  }

  // What the nearest words say of the figure: those before it up to the figure before, or those behind up to the next.
  SizeRole RoleAt(std::size_t at) const {
    constexpr std::size_t kFar = 7;
    if (IsWord(at + 1)) {
      const SizeRole next = RoleOf(tokens_[at + 1].word);
      if (tokens_[at + 1].word.starts_with("exceed") && LeadsOn(at + 1)) return SizeRole::kUsed;
      const bool says = next == SizeRole::kFree || next == SizeRole::kNeeded || tokens_[at + 1].word == "limit" ||
                        tokens_[at + 1].word == "capacity";
      if (says) return next;
    }
    const char* const kOver = " exceed exceeds exceeded exceeding over short missing lacking ";
    if (at > 0 && tokens_[at - 1].word == "by" && HasBefore(at, kOver)) return SizeRole::kExcess;
    if (FollowsSize(at)) return SizeRole::kLimit;
    if (LeadsToSize(at)) return SizeRole::kUsed;
    for (std::size_t back = 1; back <= std::min(at, kFar) && IsWord(at - back); ++back) {
      const SizeRole role = RoleOf(tokens_[at - back].word);
      const bool is_of = tokens_[at - back].word == "of";  // "3G of 2G"
      if (is_of && (back > 1 || at < 2 || tokens_[at - 2].kind != NameToken::Kind::kSize)) continue;
      // "the plan wants 20G": all that it needs, not one request of many.
      const bool is_whole = role == SizeRole::kRequest && back < at && IsIn(kPrograms, tokens_[at - back - 1].word);
      if (role != SizeRole::kNone) return is_whole ? SizeRole::kUsed : role;
    }
    for (std::size_t ahead = 1; ahead <= kFar && IsWord(at + ahead); ++ahead) {
      const SizeRole role = RoleOf(tokens_[at + ahead].word);
      if (role == SizeRole::kFree || role == SizeRole::kNeeded) return role;
    }
    return SizeRole::kNone;
  }

  // Whether a figure follows in the same sentence.
  bool LeadsOn(std::size_t at) const {
    while (at < tokens_.size() && tokens_[at].kind != NameToken::Kind::kEnd) {
      if (tokens_[at++].kind == NameToken::Kind::kSize) return true;
    }
    return false;
  }

  // "12G / 16G", "12G > 10G": one is held against the other, with nothing but that mark between them.
  bool AreHeldTogether(std::size_t first, std::size_t second) const {
    if (second >= tokens_.size() || tokens_[first].kind != NameToken::Kind::kSize) return false;
    const NameToken::Kind kind = tokens_[second].kind;
    if (kind != NameToken::Kind::kSize && kind != NameToken::Kind::kCount) return false;
    std::string between;
    for (std::size_t i = tokens_[first].piece + 1; i < tokens_[second].piece; ++i) {
      if (pieces_[i].kind != Kind::kBlank) between += pieces_[i].text;
    }
    return between == "/" || between == ">" || between == ">=";
  }
  bool FollowsSize(std::size_t at) const { return at > 0 && AreHeldTogether(at - 1, at); }
  bool LeadsToSize(std::size_t at) const { return AreHeldTogether(at, at + 1); }

  bool Claim(const std::string& name) {
    if (name.empty() || name.size() > kMostNameBytes || naming_.is_taken(name)) return false;
    return used_.insert(name).second;
  }

  std::string NameOfSize(SizeRole role, std::size_t at) {
    if (role != SizeRole::kNone && naming_.known_facts) {
      for (const std::string& fact : naming_.known_facts(role)) {
        if (used_.insert(fact).second) return fact;
      }
    }
    for (const auto& [of, name] : kRoleNames) {
      if (of == role && Claim(name)) return name;
    }
    const std::string before = WordsBefore(at, 3);
    if (!before.empty() && Claim(before + "_bytes")) return before + "_bytes";
    const std::string after = WordAfter(at);
    if (!after.empty() && Claim(after + "_bytes")) return after + "_bytes";
    for (std::size_t number = 1;; ++number) {
      const std::string name = "size_" + std::to_string(number);
      if (Claim(name)) return name;
    }
  }

  // Up to `most` words right before it that say something, as one name: "high_water_mark".
  std::string WordsBefore(std::size_t at, std::size_t most) const {
    std::size_t begin = at;
    while (begin > 0 && IsWord(begin - 1) && IsIn(kStopWords, tokens_[begin - 1].word)) --begin;
    const std::size_t end = begin;
    while (begin > 0 && end - begin < most && IsWord(begin - 1) && !IsIn(kStopWords, tokens_[begin - 1].word)) --begin;
    std::string words;
    for (std::size_t i = begin; i < end; ++i) words += (words.empty() ? "" : "_") + tokens_[i].word;
    while (words.size() > kMostNameBytes - 8 && words.find('_') != std::string::npos)
      words.erase(0, words.find('_') + 1);
    return words;
  }

  std::string WordAfter(std::size_t at) const {
    for (std::size_t next = at + 1; IsWord(next); ++next) {
      if (!IsIn(kStopWords, tokens_[next].word)) return tokens_[next].word;
    }
    return "";
  }

  // Counts are named by what they count, or by what stands before them; names and shapes by the latter.
  void NameOther(std::size_t at) {
    MessagePiece& piece = pieces_[tokens_[at].piece];
    if (captures_ >= kMostCaptures) return;
    const bool is_figure = piece.type == "integer" || piece.type == "number" || piece.type == "bytes";
    const std::string next = IsWord(at + 1) ? tokens_[at + 1].word : "";
    if (piece.type == "shape") return;  // of which array it is, the words beside it do not tell
    if (IsProgram(piece.text) && used_.insert("module").second) {
      piece.name = "module";
      ++captures_;
      return;
    }
    std::vector<std::string> names;
    if (piece.type == "device") names.push_back(piece.type);
    if (is_figure && next.size() > 3 && next.back() == 's' && !IsIn(kStopWords, next)) names.push_back(next);
    const std::string before = WordsBefore(at, is_figure ? 3 : 1);
    if (before.size() > 2) names.push_back(before);
    if (!is_figure) names.push_back(piece.type);
    for (std::string name : names) {
      if (Claim(name) || Claim(name += is_figure ? "_number" : "_name")) {
        piece.name = name;
        ++captures_;
        return;
      }
    }
  }

  const CaptureNaming& naming_;
  std::vector<MessagePiece>& pieces_;
  std::vector<NameToken> tokens_;
  std::set<std::string> used_;
  std::size_t captures_ = 0;
};

}  // namespace

std::vector<NamedSize> NameCaptures(const CaptureNaming& naming, std::vector<MessagePiece>* pieces) {
  return Namer(naming, pieces).Run();
}

}  // namespace whyoom
