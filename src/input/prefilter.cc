#include "input/prefilter.h"

#include <hs/hs.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <numeric>

#include "input/error.h"

namespace whyoom {
namespace {

// hs_scan takes an unsigned length.
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;

struct Search {
  std::size_t after = 0;  // ends up to here do not count
  std::size_t end = std::string_view::npos;
};

int OnFirst(unsigned, unsigned long long, unsigned long long to, unsigned, void* context) {
  auto* search = static_cast<Search*>(context);
  if (to <= search->after) return 0;
  search->end = static_cast<std::size_t>(to);
  return 1;  // literal matches come in order of their ends, so the first is the one
}

struct SearchAll {
  std::size_t after = 0;
  std::size_t begin = 0;  // of what is searched in the block
  std::vector<Prefilter::Hit>* hits = nullptr;
};

int OnEach(unsigned literal, unsigned long long, unsigned long long to, unsigned, void* context) {
  auto* search = static_cast<SearchAll*>(context);
  if (to > search->after) search->hits->push_back({search->begin + static_cast<std::size_t>(to), literal});
  return 0;
}

// The search engine wants memory of its own for each thread; it may serve several sets of literals.
class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { hs_free_scratch(scratch_); }

  // `id` names the database, and is never given to another one. To ask the engine whether the memory is large enough
  // costs more than to search a line.
  hs_scratch_t* For(const hs_database_t* database, std::uint64_t id) {
    if (std::find(known_.begin(), known_.end(), id) != known_.end()) return scratch_;
    if (hs_alloc_scratch(database, &scratch_) != HS_SUCCESS) {
      known_.clear();
      throw Error("no memory for the search engine");
    }
    if (known_.size() >= kMostKnown) known_.clear();
    known_.push_back(id);
    return scratch_;
  }

 private:
  // A run has some eight databases; those of rules that are gone need not be remembered.
  static constexpr std::size_t kMostKnown = 64;

  hs_scratch_t* scratch_ = nullptr;
  std::vector<std::uint64_t> known_;
};

thread_local Scratch scratch_of_thread;

std::uint64_t NextId() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

struct Prefilter::Engine {
  hs_database_t* database = nullptr;
  const std::uint64_t id = NextId();
  std::size_t longest = 0;

  ~Engine() { hs_free_database(database); }

  void Compile(const std::vector<std::string>& literals) {
    std::vector<const char*> texts;
    std::vector<std::size_t> lengths;
    for (const std::string& literal : literals) {
      if (literal.empty()) throw Error("a literal of the prefilter is empty");
      texts.push_back(literal.data());
      lengths.push_back(literal.size());
      longest = std::max(longest, literal.size());
    }
    const std::vector<unsigned> flags(literals.size(), HS_FLAG_CASELESS);
    hs_compile_error_t* error = nullptr;
    std::vector<unsigned> ids(literals.size());
    std::iota(ids.begin(), ids.end(), 0U);
    const hs_error_t result =
        hs_compile_lit_multi(texts.data(), flags.data(), ids.data(), lengths.data(),
                             static_cast<unsigned>(texts.size()), HS_MODE_BLOCK, nullptr, &database, &error);
    const std::string reason = error != nullptr && error->message != nullptr ? error->message : "unknown reason";
    hs_free_compile_error(error);
    if (result != HS_SUCCESS) throw Error("the search engine refuses the literals of the rules: " + reason);
  }

  // Calls `on_match` for what ends in block[begin, begin + length); whether it ended the search.
  bool Search(std::string_view block, std::size_t begin, std::size_t length, match_event_handler on_match,
              void* context) const {
    const hs_error_t result = hs_scan(database, block.data() + begin, static_cast<unsigned>(length), 0,
                                      scratch_of_thread.For(database, id), on_match, context);
    if (result != HS_SUCCESS && result != HS_SCAN_TERMINATED)
      throw Error("the search engine failed with code " + std::to_string(result));
    return result == HS_SCAN_TERMINATED;
  }
};

Prefilter::Prefilter(const std::vector<std::string>& literals) : engine_(std::make_unique<Engine>()) {
  if (!literals.empty()) engine_->Compile(literals);
}

Prefilter::~Prefilter() = default;

std::size_t Prefilter::longest() const { return engine_->longest; }

std::size_t Prefilter::FindEnd(std::string_view block, std::size_t from) const {
  if (engine_->database == nullptr) return std::string_view::npos;
  const std::size_t shared = engine_->longest - 1;
  while (from < block.size()) {
    const std::size_t begin = from - std::min(from, shared);
    const std::size_t length = std::min(block.size() - begin, kMostAtOnce + shared);
    Search search{from - begin, std::string_view::npos};
    if (engine_->Search(block, begin, length, OnFirst, &search)) return begin + search.end;
    from = begin + length;
  }
  return std::string_view::npos;
}

void Prefilter::FindAll(std::string_view block, std::size_t from, std::vector<Hit>* hits) const {
  if (engine_->database == nullptr) return;
  const std::size_t shared = engine_->longest - 1;
  while (from < block.size()) {
    const std::size_t begin = from - std::min(from, shared);
    const std::size_t length = std::min(block.size() - begin, kMostAtOnce + shared);
    SearchAll search{from - begin, begin, hits};
    engine_->Search(block, begin, length, OnEach, &search);
    from = begin + length;
  }
}

}  // namespace whyoom
