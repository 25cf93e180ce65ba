#include "rules/names.h"

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <utility>

#include "rules/suggest.h"

namespace whyoom {

const std::vector<NamedField>& RowFieldTable() {
  static const std::vector<NamedField> fields = {
      {"rank", "1 is the largest row, as printed"},
      {"size_bytes", "with padding, as printed"},
      {"unpadded_bytes", "as printed"},
      {"padding_bytes", "as printed; 0 if not printed"},
      {"padding_factor", "`32.0x expansion` is 32"},
      {"shape", "`f32[16,128]`, without layout; for a tuple, all of its shapes"},
      {"dtype", "`f32`; unknown for a tuple, like all fields from the Shape line"},
      {"elements", "the number of elements"},
      {"dims", "the number of dimensions"},
      {"minor_dim", "the length of the dimension that varies fastest, by the layout"},
      {"second_minor_dim", "the length of the next one"},
      {"tile_minor", "the layout pads `minor_dim` to a multiple of this"},
      {"tile_second_minor", "likewise for `second_minor_dim`"},
      {"op_name", "the name that JAX or another framework gave the operation"},
      {"source",
       "`file.py:19`, the user's line; if a library created the array, the user's line of another array in the same "
       "scope of the program"},
      {"library_source", "`flax/linen/linear.py:251`, if a library created the array"},
      {"source_file", "as printed"},
      {"xla_label", "the compiler's instruction"},
      {"kind", "`HLO temp`, `parameter`, `global`, `scoped`, …"},
      {"name",
       "the shortest name that a user recognises (`pts`, `attention/dot_general at attention.py:88`); the shape "
       "if it has only the compiler's name"},
      {"called", "name and shape (`pts f32[64,2]`), or the shape alone"},
      {"from", "`, from NAME`, or empty if it has no name"},
      {"is_named", "it has a name from the user's program"},
      {"element_bits", "32 for f32"},
      {"longest_axis", "the first of the longest dimensions in the user's order; 0 is the first"},
      {"longest_dim", "the length of that dimension"},
      {"same_size_count", "the number of rows of this size and shape, including this one"},
      {"best_layout_bytes", "size_bytes with the order of dimensions that needs the least padding"},
  };
  return fields;
}

const std::vector<std::string>& RowFields() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const NamedField& field : RowFieldTable()) all.emplace_back(field.name);
    return all;
  }();
  return names;
}

const std::vector<std::string>& BuiltInNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = {"code",        "scenario", "framework", "chip",          "listed",
                                    "user_source", "dump",     "no_dump",   "call_compiles", "impossible_figure"};
    for (const std::string axis : {"batch.", "sequence.", "made."}) {
      for (const std::string field : {"array", "axis", "length", "name"}) all.push_back(axis + field);
    }
    all.insert(all.end(), {"made.parts", "made.of_state", "made.split.mesh_axis", "made.split.array",
                           "made.split.is_argument", "made.split.spec"});
    for (const std::string field : {"name", "package", "since", "until", "version"}) all.push_back("need." + field);
    return all;
  }();
  return names;
}

const std::vector<std::string>& ComparisonNames() {
  static const std::vector<std::string> names = {"lists_compared", "same_job", "verdict", "change"};
  return names;
}

const std::vector<std::string>& RunNames() {
  static const std::vector<std::string> names = {"failed",         "measured",   "ran",        "compiles",
                                                 "code",           "title",      "path",       "listed",
                                                 "other_failures", "over_bytes", "is_at_least"};
  return names;
}

namespace {

// Adds the facts about signs of mistakes in the program of a dump, see program/estimates.h.
std::vector<std::string> WithSigns(std::vector<std::string> names) {
  std::istringstream signs(
      "whole_state replicated_state kept_state kept_arguments frozen float64 float32_cache evaluation_logits "
      "dequantized example_gradients repeated_gradients whole_result fetched host_transfer stacked_again "
      "gathered_layers dispatch interacting halves long_cache");
  for (std::string sign; signs >> sign;) names.insert(names.end(), {sign + "_bytes", sign + "_array"});
  return names;
}

}  // namespace

const std::vector<std::string>& ReaderFacts(std::string_view reader) {
  static const std::vector<std::string> none;
  static const std::vector<std::string> memory_report = WithSigns({
      "total_bytes",
      "system_reserved_bytes",
      "program_bytes",
      "arguments_bytes",
      "output_bytes",
      "shared_output_bytes",
      "program_hbm_bytes",
      "program_space_bytes",
      "hlo_temp_bytes",
      "program_need_bytes",
      "dump",
      "hlo_temp_unpadded_bytes",
      "hlo_temp_padded_bytes",
      "utilization_percent",
      "fragmentation_bytes",
      "fragmentation_percent",
      "global_bytes",
      "scoped_bytes",
      "overlays_bytes",
      "heap_bytes",
      "module",
      "listed",     // number of rows
      "main_kind",  // that takes most memory at the peak: "attention scores"
      "main_kind_bytes",
      "list_seen",    // true if the list's heading was printed
      "lines_mixed",  // true if lines of another report are interleaved
  });
  return reader == "memory_report" ? memory_report : none;
}

namespace {

// Limit because each guess compares a name with every known name.
constexpr std::size_t kMaxGuesses = 100;

bool Holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

void NameCheck::Use(const std::string& owner, const JsonNode& at, const std::vector<NameUse>& uses, bool in_row) {
  for (const NameUse& use : uses) entries_.push_back({owner, &at, use, in_row || use.in_rows});
}

void NameCheck::UseFact(const std::string& owner, const JsonNode& at, const std::string& name) {
  entries_.push_back({owner, &at, {name, 0, false, ""}, false});
}

void NameCheck::Give(const std::string& owner, const std::string& fact) {
  facts_[owner].insert(fact);
  facts_[""].insert(fact);
}

void NameCheck::AddRowField(const std::string& name) { row_fields_.push_back(name); }

const std::set<std::string>& NameCheck::FactsOf(const std::string& owner) const {
  static const std::set<std::string> none;
  const auto found = facts_.find(owner);
  return found == facts_.end() ? none : found->second;
}

void NameCheck::SuppressFaults(const std::string& owner) {
  suppressed_.insert({owner, "", kComparisonOwner, kTermsOwner, kRowOwner});
}

std::vector<std::string> NameCheck::ComparisonCandidates() const {
  std::vector<std::string> names = ComparisonNames();
  for (const std::string run : {"before.", "after."}) {
    for (const std::string& name : RunNames()) names.push_back(run + name);
    for (const std::string& fact : FactsOf("")) names.push_back(run + fact);
  }
  return names;
}

std::vector<std::string> NameCheck::Candidates(const Entry& entry) const {
  if (entry.owner == kComparisonOwner) return ComparisonCandidates();
  if (entry.owner == kRowOwner) return row_fields_;
  const bool of_all = entry.owner.empty() || entry.owner == kTermsOwner;
  const std::set<std::string>& facts = FactsOf(of_all ? "" : entry.owner);
  std::vector<std::string> names(facts.begin(), facts.end());
  names.insert(names.end(), BuiltInNames().begin(), BuiltInNames().end());
  for (const std::string& field : row_fields_) names.push_back("largest." + field);
  if (entry.in_row) names.insert(names.end(), row_fields_.begin(), row_fields_.end());
  if (entry.owner == kTermsOwner) {
    const std::vector<std::string> more = ComparisonCandidates();
    names.insert(names.end(), more.begin(), more.end());
  }
  return names;
}

void NameCheck::ReportTermUse(const Entry& entry, bool is_field) const {
  const std::string& name = entry.use.name;
  // The fault is reported where the term is defined.
  if (!is_field && !Holds(Candidates({kTermsOwner, entry.at, entry.use, true}), name)) return;
  const std::string what = "the term '" + entry.use.term + "' uses '" + name + "', ";
  if (is_field) {
    entry.at->ReportAt(entry.use.at, what + "a field of a row, but this expression is not evaluated for a row",
                       "write it in a function over the rows");
  } else {
    entry.at->ReportAt(entry.use.at, what + "which '" + entry.owner + "' does not provide", "");
  }
}

void NameCheck::Run() const {
  // Cached because there can be thousands of entries and names; valid names depend only on this key.
  std::map<std::pair<std::string, bool>, std::set<std::string>> known;
  std::size_t guessed = 0;
  for (const Entry& entry : entries_) {
    if (suppressed_.contains(entry.owner)) continue;
    const std::string& name = entry.use.name;
    const auto [of_owner, is_new] = known.try_emplace({entry.owner, entry.in_row});
    if (is_new) {
      const std::vector<std::string> candidates = Candidates(entry);
      of_owner->second = {candidates.begin(), candidates.end()};
    }
    if (of_owner->second.contains(name)) continue;
    const bool is_field = Holds(row_fields_, name);
    if (!entry.use.term.empty()) {
      ReportTermUse(entry, is_field);
    } else if (!entry.in_row && is_field) {
      entry.at->ReportAt(entry.use.at,
                         "'" + name + "' is a field of a row, but this expression is not evaluated for a row",
                         "write largest." + name + " or use a function over the rows");
    } else {
      entry.at->ReportAt(entry.use.at, "unknown name '" + name + "'",
                         ++guessed > kMaxGuesses ? "" : NameHint(name, of_owner->second));
    }
  }
}

std::string NameCheck::NameHint(const std::string& name, const std::set<std::string>& known) const {
  // The report and the ranking need only two of the three facts. A rule that uses the third must derive it.
  if (name == "excess_bytes") return R"(derive it: {"fact": "excess_bytes", "from": "need_bytes - have_bytes"})";
  if (name == "need_bytes" || name == "have_bytes")
    return R"(derive it from the message's facts: {"fact": ")" + name + R"(", "from": "…"})";
  std::vector<std::string> candidates(known.begin(), known.end());
  candidates.insert(candidates.end(), terms_.begin(), terms_.end());
  return DidYouMean(name, candidates);
}

}  // namespace whyoom
