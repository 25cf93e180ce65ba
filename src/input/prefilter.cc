#include "input/prefilter.h"

#include <hs/hs.h>

#include <algorithm>
#include <climits>

#include "input/error.h"

namespace whyoom {
namespace {

// hs_scan takes an unsigned length.
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;

struct Search {
  std::size_t after = 0;  // ends up to here do not count
  std::size_t end = std::string_view::npos;
};

int OnMatch(unsigned, unsigned long long, unsigned long long to, unsigned, void* context) {
  auto* search = static_cast<Search*>(context);
  if (to <= search->after) return 0;
  search->end = static_cast<std::size_t>(to);
  return 1;  // literal matches come in order of their ends, so the first is the one
}

}  // namespace

struct Prefilter::Engine {
  hs_database_t* database = nullptr;
  hs_scratch_t* scratch = nullptr;
  std::size_t longest = 0;

  ~Engine() {
    hs_free_scratch(scratch);
    hs_free_database(database);
  }

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
    const hs_error_t result =
        hs_compile_lit_multi(texts.data(), flags.data(), nullptr, lengths.data(), static_cast<unsigned>(texts.size()),
                             HS_MODE_BLOCK, nullptr, &database, &error);
    const std::string reason = error != nullptr && error->message != nullptr ? error->message : "unknown reason";
    hs_free_compile_error(error);
    if (result != HS_SUCCESS) throw Error("the search engine refuses the literals of the rules: " + reason);
    if (hs_alloc_scratch(database, &scratch) != HS_SUCCESS) throw Error("no memory for the search engine");
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
    Search search;
    search.after = from - begin;
    const hs_error_t result = hs_scan(engine_->database, block.data() + begin, static_cast<unsigned>(length), 0,
                                      engine_->scratch, OnMatch, &search);
    if (result == HS_SCAN_TERMINATED && search.end != std::string_view::npos) return begin + search.end;
    if (result != HS_SUCCESS) throw Error("the search engine failed with code " + std::to_string(result));
    from = begin + length;
  }
  return std::string_view::npos;
}

}  // namespace whyoom
