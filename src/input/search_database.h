// What the search engine (Hyperscan or Vectorscan) makes of the texts that are looked for. Making it of hundreds takes
// longer than to read most logs, so that it can be saved and loaded again.
//
// Literals alone: Vectorscan 5.4.9 passes over matches of regular expressions that begin at the text's start, where
// there are several such and the text is long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct hs_database;

namespace whyoom {

class SearchDatabase {
 public:
  // Which machines of this architecture it is for: this one, those of the last ten years (with AVX2), or all of them,
  // which searches at two thirds of the speed.
  enum class Machine { kThis, kUsual, kAny };

  SearchDatabase() = default;  // of nothing: finds nothing
  ~SearchDatabase();
  SearchDatabase(SearchDatabase&& other) noexcept;
  SearchDatabase& operator=(SearchDatabase&& other) noexcept;

  // Of texts, none of them empty, in whichever ASCII case; every match is told, in order of its end. Throws Error where
  // the engine refuses them.
  static SearchDatabase OfLiterals(const std::vector<std::string>& literals, Machine machine = Machine::kThis);

  // What Save gave. Nothing where another version of the engine made it, or for machines that can do more than this
  // one.
  static std::optional<SearchDatabase> Load(std::string_view saved);
  std::string Save() const;

  bool empty() const { return database_ == nullptr; }

  // What is told of a match: the place of what was found among what was given, 0, its end in the text, 0, and
  // `context`. What is not 0 ends the search.
  using OnMatch = int (*)(unsigned place, unsigned long long from, unsigned long long to, unsigned flags,
                          void* context);

  // Whether `on_match` ended the search. `text` is of kMostBytes at most. Any number of threads may search at once.
  bool Search(std::string_view text, OnMatch on_match, void* context) const;
  static constexpr std::size_t kMostBytes = (std::size_t{1} << 32) - 1;

 private:
  explicit SearchDatabase(hs_database* database);

  hs_database* database_ = nullptr;
  std::uint64_t id_ = 0;  // never given to another one
};

}  // namespace whyoom
