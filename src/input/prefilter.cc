#include "input/prefilter.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "input/error.h"
#include "input/stored_searches.h"

namespace whyoom {
namespace {

// A search takes no longer texts.
constexpr std::size_t kMostOfSearch = std::size_t{1} << 30;

struct First {
  std::size_t after = 0;  // ends up to here do not count
  std::size_t end = std::string_view::npos;
};

int OnFirst(unsigned, unsigned long long, unsigned long long to, unsigned, void* context) {
  auto* search = static_cast<First*>(context);
  if (to <= search->after) return 0;
  search->end = static_cast<std::size_t>(to);
  return 1;  // literal matches come in order of their ends, so the first is the one
}

struct All {
  std::size_t after = 0;
  std::size_t begin = 0;  // of what is searched in the block
  std::vector<Prefilter::Hit>* hits = nullptr;
};

int OnEach(unsigned literal, unsigned long long, unsigned long long to, unsigned, void* context) {
  auto* search = static_cast<All*>(context);
  if (to > search->after) search->hits->push_back({search->begin + static_cast<std::size_t>(to), literal});
  return 0;
}

}  // namespace

Prefilter::Prefilter(const std::vector<std::string>& literals) {
  for (const std::string& literal : literals) {
    if (literal.empty()) throw Error("a literal of the prefilter is empty");
    longest_ = std::max(longest_, literal.size());
  }
  for (const std::string_view stored : FindStored(literals)) {
    if (std::optional<SearchDatabase> database = SearchDatabase::Load(stored)) {
      database_ = std::move(*database);
      is_stored_ = true;
      return;
    }
  }
  database_ = SearchDatabase::OfLiterals(literals);
}

std::size_t Prefilter::FindEnd(std::string_view block, std::size_t from) const {
  if (database_.empty()) return std::string_view::npos;
  const std::size_t shared = longest_ - 1;
  while (from < block.size()) {
    const std::size_t begin = from - std::min(from, shared);
    const std::size_t length = std::min(block.size() - begin, kMostOfSearch + shared);
    First search{from - begin, std::string_view::npos};
    if (database_.Search(block.substr(begin, length), OnFirst, &search)) return begin + search.end;
    from = begin + length;
  }
  return std::string_view::npos;
}

void Prefilter::FindAll(std::string_view block, std::size_t from, std::vector<Hit>* hits) const {
  if (database_.empty()) return;
  const std::size_t shared = longest_ - 1;
  while (from < block.size()) {
    const std::size_t begin = from - std::min(from, shared);
    const std::size_t length = std::min(block.size() - begin, kMostOfSearch + shared);
    All search{from - begin, begin, hits};
    database_.Search(block.substr(begin, length), OnEach, &search);
    from = begin + length;
  }
}

}  // namespace whyoom
