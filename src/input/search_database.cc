#include "input/search_database.h"

#include <hs/hs.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "input/error.h"

namespace whyoom {
namespace {

// The search engine wants memory of its own for each thread; it may serve several databases.
class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { hs_free_scratch(scratch_); }

  // `id` names the database. To ask the engine whether the memory is large enough costs more than to search a line.
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
  // A run has some ten databases; those of rules that are gone need not be remembered.
  static constexpr std::size_t kMostKnown = 64;

  hs_scratch_t* scratch_ = nullptr;
  std::vector<std::uint64_t> known_;
};

thread_local Scratch scratch_of_thread;

std::uint64_t NextId() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

hs_platform_info_t PlatformOf(SearchDatabase::Machine machine) {
  hs_platform_info_t platform = {};
  if (machine == SearchDatabase::Machine::kThis) hs_populate_platform(&platform);
#ifdef __x86_64__
  if (machine == SearchDatabase::Machine::kUsual) platform.cpu_features = HS_CPU_FEATURES_AVX2;
#endif
  return platform;
}

std::string ReasonOf(hs_compile_error_t* error) {
  std::string reason = error != nullptr && error->message != nullptr ? error->message : "unknown reason";
  hs_free_compile_error(error);
  return reason;
}

}  // namespace

SearchDatabase::SearchDatabase(hs_database* database) : database_(database), id_(NextId()) {}

SearchDatabase::SearchDatabase(SearchDatabase&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)), id_(other.id_) {}

SearchDatabase& SearchDatabase::operator=(SearchDatabase&& other) noexcept {
  std::swap(database_, other.database_);
  std::swap(id_, other.id_);
  return *this;
}

SearchDatabase::~SearchDatabase() { hs_free_database(database_); }

SearchDatabase SearchDatabase::OfLiterals(const std::vector<std::string>& literals, Machine machine) {
  if (literals.empty()) return {};
  std::vector<const char*> texts;
  std::vector<std::size_t> lengths;
  for (const std::string& literal : literals) {
    texts.push_back(literal.data());
    lengths.push_back(literal.size());
  }
  const std::vector<unsigned> flags(literals.size(), HS_FLAG_CASELESS);
  std::vector<unsigned> ids(literals.size());
  std::iota(ids.begin(), ids.end(), 0U);
  const hs_platform_info_t platform = PlatformOf(machine);
  hs_database_t* database = nullptr;
  hs_compile_error_t* error = nullptr;
  if (hs_compile_lit_multi(texts.data(), flags.data(), ids.data(), lengths.data(), static_cast<unsigned>(texts.size()),
                           HS_MODE_BLOCK, &platform, &database, &error) != HS_SUCCESS)
    throw Error("the search engine refuses the literals of the rules: " + ReasonOf(error));
  return SearchDatabase(database);
}

std::optional<SearchDatabase> SearchDatabase::Load(std::string_view saved) {
  hs_database_t* database = nullptr;
  if (hs_deserialize_database(saved.data(), saved.size(), &database) != HS_SUCCESS) return std::nullopt;
  return SearchDatabase(database);
}

std::string SearchDatabase::Save() const {
  char* bytes = nullptr;
  std::size_t length = 0;
  if (hs_serialize_database(database_, &bytes, &length) != HS_SUCCESS)
    throw Error("the search engine cannot save what it made");
  std::string saved(bytes, length);
  std::free(bytes);  // what hs_set_misc_allocator was not told to take from elsewhere
  return saved;
}

bool SearchDatabase::Search(std::string_view text, OnMatch on_match, void* context) const {
  if (database_ == nullptr) return false;
  const hs_error_t result = hs_scan(database_, text.data(), static_cast<unsigned>(text.size()), 0,
                                    scratch_of_thread.For(database_, id_), on_match, context);
  if (result != HS_SUCCESS && result != HS_SCAN_TERMINATED)
    throw Error("the search engine failed with code " + std::to_string(result));
  return result == HS_SCAN_TERMINATED;
}

}  // namespace whyoom
