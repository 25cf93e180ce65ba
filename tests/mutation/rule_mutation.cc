#include "mutation/rule_mutation.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <utility>

#include "examples/rule_case.h"
#include "rules/sha256.h"

namespace whyoom {
namespace {

using End = TriedMutant::End;

// Whether a change to an entry of the section can affect a case of the kind. Trying cases takes most of the time.
bool CanAffect(const std::string& section, RuleCase::Kind kind) {
  using Kind = RuleCase::Kind;
  if (kind == Kind::kComparison) {
    return section == "terms" || section == "wording" || section == "remedies";
  }
  if (kind == Kind::kDiagnosisExample) {
    static const std::set<std::string> kReading = {"affixes",  "json_logs",  "quotations",
                                                   "contexts", "frameworks", "lines"};
    return !kReading.contains(section);
  }
  static const std::set<std::string> kAdvice = {"remedies", "wording", "roles"};
  if (kAdvice.contains(section)) return false;
  if (section == "terms") return kind == Kind::kFailure;
  switch (kind) {  // each of these kinds depends on one section
    case Kind::kFramework:
      return section == "frameworks";
    case Kind::kChip:
      return section == "chips";
    case Kind::kQuotation:
      return section == "quotations";
    case Kind::kLine:
      return section == "lines";
    case Kind::kPrefixOrSuffix:
      return section == "affixes" || section == "json_logs";
    default:
      return section != "frameworks" && section != "chips";
  }
}

// The text without prefixes and suffixes of its lines.
std::string Cleaned(const Engine& engine, const std::string& text) {
  std::vector<Line> lines;
  RawLine raw;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    ++raw.number;
    raw.bytes = std::string_view(text).substr(begin, end - begin);
    engine.matchers().normalizer.Normalize(raw, &lines);
    begin = end + 1;
  }
  std::string cleaned;
  for (const Line& line : lines) cleaned += line.text + "\n";
  return cleaned;
}

// Length of the part of the pointer that identifies the entry: "/remedies/3" in "/remedies/3/evidence/0".
std::size_t EntryLength(const std::string& pointer) {
  const std::size_t slash = pointer.find('/', 1);
  return slash == pointer.npos ? pointer.size() : std::min(pointer.find('/', slash + 1), pointer.size());
}

class Runner {
 public:
  Runner(const std::vector<RuleFile>& others, const std::vector<RuleFile>& files, const std::vector<RuleFile>& examples,
         const std::vector<RuleObserver>& observers, const MutationOptions& options)
      : others_(others), files_(files), observers_(observers), options_(options) {
    original_ = CompileRules({}, All(files)).rules;
    RuleSet with_examples = original_;
    AddExamples(examples, &with_examples);
    std::vector<RuleFile> all = All(files);
    all.insert(all.end(), examples.begin(), examples.end());
    cases_ = CasesOf(with_examples, AffixExamples(all), options.with_conclusions);
    const Engine engine(original_);
    for (const RuleCase& one : cases_) cleaned_.push_back(Cleaned(engine, one.example.text));
    for (const RuleObserver& observer : observers) statements_.push_back(observer.says(engine));
    for (const RuleFile& file : files) parsed_.push_back(Parsed(file));
  }

  std::vector<TriedMutant> Run() {
    std::vector<TriedMutant> tried = Choose();
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next++; i < tried.size(); i = next++) {
        tried[i].end = TryOne(tried[i].mutant);
      }
    };
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < std::max<std::size_t>(options_.jobs, 1); ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    return tried;
  }

 private:
  static nlohmann::json Parsed(const RuleFile& file) { return nlohmann::json::parse(file.text, nullptr, false); }

  std::vector<RuleFile> All(const std::vector<RuleFile>& more) const {
    std::vector<RuleFile> all = others_;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  std::vector<TriedMutant> Choose() const {
    std::vector<TriedMutant> chosen;
    for (RuleMutant& mutant : MutateRules(files_)) {
      if (IsWanted(mutant)) chosen.push_back({std::move(mutant), End::kSurvived});
    }
    if (options_.sample && *options_.sample < chosen.size()) Draw(*options_.sample, &chosen);
    return chosen;
  }

  // Selects the mutants with the smallest digests, so that a change to the rules leaves the rest of a sample unchanged.
  void Draw(std::size_t count, std::vector<TriedMutant>* chosen) const {
    std::vector<std::pair<std::string, std::size_t>> by_digest;
    for (const auto& [mutant, end] : *chosen) {
      const RuleOwner owner = OwnerOf(mutant.pointer, parsed_[mutant.file]);
      const std::string within = mutant.pointer.substr(EntryLength(mutant.pointer));
      by_digest.emplace_back(Sha256Hex(fmt::format("{} {} {} {} {} {} {}", options_.seed, files_[mutant.file].name,
                                                   owner.section, owner.id, within, mutant.at, mutant.what)),
                             by_digest.size());
    }
    std::partial_sort(by_digest.begin(), by_digest.begin() + static_cast<std::ptrdiff_t>(count), by_digest.end());
    std::vector<TriedMutant> drawn;
    for (std::size_t i = 0; i < count; ++i) drawn.push_back(std::move((*chosen)[by_digest[i].second]));
    *chosen = std::move(drawn);
  }

  bool IsWanted(const RuleMutant& mutant) const {
    if (options_.only.empty()) return true;
    const RuleOwner owner = OwnerOf(mutant.pointer, parsed_[mutant.file]);
    for (const std::string& name :
         {files_[mutant.file].name, owner.section, owner.id, std::string(KindName(mutant.kind))}) {
      if (name.find(options_.only) != name.npos) return true;
    }
    return false;
  }

  End TryOne(const RuleMutant& mutant) const {
    std::vector<RuleFile> files = files_;
    files[mutant.file].text = Apply(mutant, parsed_[mutant.file]);
    const CompiledRules compiled = CompileRules({}, All(files));
    if (!compiled.faults.empty()) return End::kRefused;
    using Kind = RuleMutant::Kind;
    const bool is_words = mutant.kind == Kind::kWords;
    const bool is_text = is_words || mutant.kind == Kind::kSentence || mutant.kind == Kind::kEntry;
    const Engine engine(compiled.rules);
    if (!is_words && SomeExampleFails(engine, mutant)) return End::kExample;
    for (std::size_t i = 0; i < observers_.size(); ++i) {
      const bool can_tell = observers_[i].words ? is_text : !is_words;
      if (can_tell && observers_[i].says(engine) != statements_[i]) return End::kObserver;
    }
    return options_.detects && options_.detects(mutant, engine) ? End::kObserver : End::kSurvived;
  }

  // Tries the cases of the entry itself and those that mention it first, because they are most likely to fail. For a
  // changed pattern, tries only those other cases in which the pattern itself matches differently: reading every case
  // as a log would take most of the time.
  bool SomeExampleFails(const Engine& engine, const RuleMutant& mutant) const {
    const RuleOwner owner = OwnerOf(mutant.pointer, parsed_[mutant.file]);
    const auto fails = [&](const RuleCase& one) {
      return CanAffect(owner.section, one.kind) && !Try(engine, one).empty();
    };
    const std::string named = '"' + owner.id + '"';
    const auto is_own = [&](const RuleCase& one) {
      if (one.kind == RuleCase::Kind::kDiagnosisExample)
        return one.situation.code == owner.id || one.situation.expect.dump().find(named) != std::string::npos;
      return one.section == owner.section && one.id == owner.id;
    };
    if (std::any_of(cases_.begin(), cases_.end(), [&](const RuleCase& one) { return is_own(one) && fails(one); }))
      return true;
    std::vector<SyntaxFault> faults;
    Pattern before;
    Pattern after;
    if (mutant.kind == RuleMutant::Kind::kPattern) {
      const nlohmann::json::json_pointer at(mutant.pointer);
      before = Pattern::Compile(JoinedText(parsed_[mutant.file].at(at)), &faults);
      after = Pattern::Compile(JoinedText(mutant.instead), &faults);
    }
    const bool can_tell = before.ok() && after.ok() && faults.empty();
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      if (is_own(cases_[i])) continue;
      if (can_tell && FindTheSame(before, after, cases_[i].example.text) && FindTheSame(before, after, cleaned_[i]))
        continue;
      if (fails(cases_[i])) return true;
    }
    return false;
  }

  const std::vector<RuleFile>& others_;
  const std::vector<RuleFile>& files_;
  const std::vector<RuleObserver>& observers_;
  const MutationOptions& options_;
  RuleSet original_;
  std::vector<RuleCase> cases_;
  std::vector<std::string> cleaned_;     // their texts as the patterns see them
  std::vector<std::string> statements_;  // outputs of the observers for the original rules
  std::vector<nlohmann::json> parsed_;
};

}  // namespace

RuleOwner OwnerOf(const std::string& pointer, const nlohmann::json& file) {
  const std::size_t slash = pointer.find('/', 1);
  RuleOwner owner{pointer.substr(1, slash == pointer.npos ? pointer.npos : slash - 1), ""};
  if (slash == pointer.npos) return owner;
  const std::string place = pointer.substr(0, EntryLength(pointer));
  const nlohmann::json& entry = file.at(nlohmann::json::json_pointer(place));
  owner.id = place.substr(slash + 1);
  if (!entry.is_object()) return owner;
  for (const char* key : {"code", "id", "extends"}) {
    if (entry.contains(key) && entry[key].is_string()) owner.id = entry[key].get<std::string>();
  }
  return owner;
}

std::vector<TriedMutant> TryMutants(const std::vector<RuleFile>& others, const std::vector<RuleFile>& files,
                                    const std::vector<RuleFile>& examples, const std::vector<RuleObserver>& observers,
                                    const MutationOptions& options) {
  return Runner(others, files, examples, observers, options).Run();
}

}  // namespace whyoom
