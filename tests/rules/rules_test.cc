// The built-in rule data is complete, consistent and right about its own examples.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "diagnose/compare.h"
#include "diagnose/failure_scope.h"
#include "examples/rule_case.h"
#include "facts/array.h"
#include "process.h"
#include "read/message.h"
#include "read/session.h"
#include "rules/names.h"
#include "rules/rule_set.h"

using namespace whyoom;

namespace TEST_FILE {

const RuleSet& BuiltIn() { return BuiltInRules(); }

std::vector<AffixExample> BuiltInAffixes() {
  std::vector<RuleFile> files = BuiltInFiles();
  files.insert(files.end(), ExampleFiles().begin(), ExampleFiles().end());
  return AffixExamples(files);
}

// The remedies of the JSON contract, which users rely on.
const std::vector<std::string> kRemedies = {"shard_tensor",
                                            "remove_debug_print",
                                            "reduce_batch",
                                            "micro_batch",
                                            "shorten_sequence",
                                            "donate_buffers",
                                            "bf16",
                                            "jax_checkpoint",
                                            "align_dims",
                                            "flash_attention",
                                            "chunk_loss",
                                            "sparse_labels",
                                            "serving_memory",
                                            "compute_in_pieces",
                                            "reduce_model_dim",
                                            "host_offload",
                                            "xla_flags_remat",
                                            "xla_flags_memory",
                                            "larger_topology",
                                            "newer_tpu",
                                            "profile_memory",
                                            "get_allocation_report",
                                            "sc_serialize_tables",
                                            "sc_feature_width",
                                            "sc_parallel_iterations",
                                            "sc_mod_shard",
                                            "free_references",
                                            "fewer_programs",
                                            "shared_memory_percent",
                                            "log_allocations_on_oom",
                                            "sharded_checkpoint",
                                            "defragment"};

TEST_CASE("the fields of a row that rules may use all exist and are documented", "[rules]") {
  Allocation row = RowOfArray(4096, "f32[8,4]{1,0:T(8,128)}");
  row.op_name = "jit(f)/mul";
  row.source_line = 7;
  row.xla_label = "%mul.1 = f32[8,4]{1,0} multiply(%a, %b)";
  row.kind = "HLO temp";
  for (const std::string& name : RowFields()) {
    INFO(name);
    // A source is the user's or a library's, and same_size_count needs all rows.
    row.source_file = name == "library_source" ? "/usr/lib/python3.11/json/decoder.py" : "/home/ada/t.py";
    CHECK(IsKnown(RowField(row, name)) == (name != "same_size_count"));
  }

  const std::string path = std::string(WHYOOM_SOURCE_DIR) + "/docs/rules-language.md";
  const std::string head = "| field | what it is |\n|---|---|\n";
  const std::string page = ReadText(path);
  const std::size_t begin = page.find(head);
  REQUIRE(begin != std::string::npos);
  std::istringstream rows(page.substr(begin + head.size(), page.find("\n\n", begin) - begin - head.size()));
  std::vector<std::string> described;
  for (std::string row; std::getline(rows, row);) described.push_back(row.substr(3, row.find('`', 3) - 3));
  CHECK(described == RowFields());
}

TEST_CASE("the rule data contains every text that the program uses", "[rules]") {
  const auto says = [&](const std::string& id) { return !BuiltIn().Say(id, Evidence()).empty(); };
  for (const char* total : {"need_bytes", "limit_bytes", "free_bytes", "largest_free_block_bytes", "arguments_bytes",
                            "output_bytes", "shared_output_bytes", "hlo_temp_bytes", "host_bytes", "padding_bytes"}) {
    INFO(total);
    CHECK(says(std::string("diff.total.") + total));
  }
  for (int i = 0; i <= static_cast<int>(RunChange::kCannotTell); ++i) {
    const auto change = static_cast<RunChange>(i);
    const bool has_figures = change == RunChange::kOtherFailure || change == RunChange::kLess ||
                             change == RunChange::kWorse || change == RunChange::kNoEvidence;
    INFO(ChangeId(change));
    CHECK((has_figures || says(std::string("diff.change.") + ChangeId(change))));
  }
  for (const char* id :
       {"ruled_out.no_gradients", "ruled_out.64_bits", "ruled_out.nothing_to_donate", "ruled_out.next_to_nothing"})
    CHECK(says(id));
  const RoleWords& roles = BuiltIn().role_words;
  for (const std::set<std::string>* words : {&roles.optimizer_state, &roles.weights, &roles.cache, &roles.inputs})
    CHECK(words->size() > 10);
}

// An artifact that contains none of these literals is not read.
Prefilter TriggerFilter() {
  const auto begin = BuiltIn().literals.begin();
  return Prefilter(std::vector(begin, begin + static_cast<std::ptrdiff_t>(BuiltIn().trigger_count)));
}

TEST_CASE("whatever a failure, candidate error or statement matches contains a trigger", "[rules]") {
  std::vector<const Pattern*> patterns;
  for (const FailureRule& failure : BuiltIn().failures) {
    for (const HeaderPattern& head : failure.header_patterns) patterns.push_back(&head.pattern);
  }
  for (const LineRule* line : BuiltIn().LinesOf({LineRule::Kind::kCandidate})) patterns.push_back(&line->pattern);
  for (const Context& context : BuiltIn().contexts) {
    for (const Pattern& pattern : context.patterns) {
      if (context.is_program) patterns.push_back(&pattern);
    }
  }
  const Prefilter triggers = TriggerFilter();
  for (const Pattern* pattern : patterns) {
    INFO(pattern->source());
    const std::vector<std::string> literals = pattern->Literals(kMinHeaderLiteral);  // a match contains one of them
    REQUIRE_FALSE(literals.empty());
    for (const std::string& literal : literals) CHECK(triggers.IsIn(literal));
  }
  CHECK(patterns.size() > 200);
  CHECK(!triggers.IsIn("Config param remat_policy: full"));
}

TEST_CASE("each header has a trigger near its start", "[rules]") {
  const Prefilter prefilter = TriggerFilter();
  const HeaderFinder finder(BuiltIn(), prefilter);
  const std::deque<std::string> nothing_before;
  int header_patterns = 0;
  for (const FailureRule& failure : BuiltIn().failures) {
    for (const Example& example : failure.samples.examples) {
      Line line;
      line.text = example.text;
      line.number = 1;
      const std::deque<Line> lines = {line};
      const JoinedLines joined(lines, 1);
      const Quotation* quoted = nullptr;
      for (const HeaderMatch& head : finder.Find(joined, {nothing_before, lines}, false, &quoted)) {
        INFO(joined.text().substr(head.match.begin, 300));
        std::vector<Prefilter::Hit> hits;
        prefilter.FindAll(joined.text(), head.match.begin, &hits);
        REQUIRE_FALSE(hits.empty());
        CHECK(hits.front().end - head.match.begin <= kLiteralReach - 64);
        ++header_patterns;
      }
    }
  }
  CHECK(header_patterns > 100);
}

TEST_CASE("no line of a rule file is longer than 160 bytes", "[rules]") {
  for (const RuleFile& file : BuiltInFiles()) {
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < file.text.size();) {
      const std::size_t end = std::min(file.text.find('\n', begin), file.text.size());
      const std::string_view line = std::string_view(file.text).substr(begin, end - begin);
      INFO(file.name << ":" << ++number << ": format it with tools/format_rules.py: " << line.substr(0, 80));
      CHECK(line.size() <= 160);  // bytes, so that every tool counts the same
      begin = end + 1;
    }
    CHECK(number > 5);
  }
}

TEST_CASE("the built-in rules agree with their examples", "[rules][whole]") {
  const std::vector<RuleCase> cases = CasesOf(BuiltIn(), BuiltInAffixes(), true);
  CHECK(FailedCases(Engine(BuiltIn()), cases) == std::vector<std::string>());
  const auto must_match = std::count_if(cases.begin(), cases.end(), [](const RuleCase& one) { return one.must_match; });
  CHECK(must_match >= 1500);
  CHECK(std::ssize(cases) - must_match >= 700);
}

// Adds the conditions and formulas below `json` that contain a number with decimals outside of texts.
void AddDecimals(const nlohmann::json& json, const std::string& key, std::vector<std::string>* found) {
  if (!json.is_object() && (key == "when" || key == "row" || key == "from")) {
    std::string text = json.dump();
    RE2::GlobalReplace(&text, "'[^']*'", "");
    if (RE2::PartialMatch(text, R"((?:^|[^\w.])\d+\.\d)")) found->push_back(text);
  } else if (json.is_structured()) {
    for (const auto& [name, value] : json.items()) AddDecimals(value, json.is_object() ? name : "", found);
  }
}

TEST_CASE("a number with decimals has a reason", "[rules]") {
  std::vector<std::string> without_reason;
  for (const RuleFile& file : BuiltInFiles()) {
    const auto json = nlohmann::json::parse(file.text);
    AddDecimals(json, "", &without_reason);
    const auto terms = json.value("terms", nlohmann::json::object());
    for (const auto& [name, term] : terms.items()) {
      if (!term.is_object()) AddDecimals(term, "when", &without_reason);
    }
  }
  CHECK(without_reason == std::vector<std::string>());
}

TEST_CASE("every remedy of the contract exists and is complete", "[rules]") {
  const std::set<std::string> safeties = {"safe", "safe_slower", "risky", "changes_training"};
  for (const std::string& id : kRemedies) {
    INFO(id);
    CHECK(BuiltIn().FindRemedy(id) != nullptr);
  }
  for (const Remedy& remedy : BuiltIn().remedies) {
    INFO(remedy.id);
    CHECK(safeties.contains(remedy.safety));
    for (const std::string* text : {&remedy.title, &remedy.safe_why, &remedy.gain, &remedy.telltale})
      CHECK(text->size() >= 10);
    CHECK(remedy.cost >= 0);
    CHECK(remedy.cost <= 6);
    REQUIRE(remedy.how.contains("jax"));
    CHECK_FALSE(remedy.how.at("jax").empty());
  }
}

// A remedy without links is explained on the official page of its failures.
TEST_CASE("every remedy is offered for some failure, and some page explains it", "[rules]") {
  std::map<std::string, bool> offered;  // whether all failures that offer it have links
  for (const FailureRule& failure : BuiltIn().failures) {
    const auto offer = [&](const RemedyUse& use) {
      const bool has_links = !failure.links.empty();
      offered[use.remedy] = has_links && (!offered.contains(use.remedy) || offered[use.remedy]);
    };
    std::for_each(failure.remedies.begin(), failure.remedies.end(), offer);
    for (const Scenario& scenario : failure.scenarios)
      std::for_each(scenario.remedies.begin(), scenario.remedies.end(), offer);
  }
  for (const Remedy& remedy : BuiltIn().remedies) {
    INFO(remedy.id);
    REQUIRE(offered.contains(remedy.id));
    CHECK((offered[remedy.id] || !remedy.links.empty()));
  }
}

TEST_CASE("the documented codes and their neighbours have a failure with links", "[rules]") {
  for (const char* code : {"0100",
                           "0101",
                           "E1000",
                           "E1001",
                           "E0102",
                           "E0200",
                           "E1200",
                           "E2001",
                           "E2002",
                           "E2003",
                           "E3000",
                           "E3001",
                           "tpu.vmem",
                           "tpu.smem",
                           "tpu.cmem",
                           "tpu.sflag",
                           "tpu.memory",
                           "tpu.embedding",
                           "tpu.sparsecore_tensor",
                           "tpu.defragment",
                           "tpu.spill_stack",
                           "xla.status",
                           "gpu.oom",
                           "device.oom",
                           "cpu.oom",
                           "host.oom",
                           "serving.kv_cache",
                           "serving.free_memory"}) {
    INFO(code);
    const FailureRule* failure = BuiltIn().FindFailure(code);
    REQUIRE(failure != nullptr);
    CHECK(failure->code == code);
    CHECK_FALSE(failure->links.empty());
  }
  CHECK(BuiltIn().FindFailure("E0100") == BuiltIn().FindFailure("0100"));
  CHECK(BuiltIn().FindFailure("e0101") == BuiltIn().FindFailure("0101"));
  CHECK(BuiltIn().FindFailure("E9999") == nullptr);
}

TEST_CASE("every remedy has a step that needs no facts", "[rules]") {
  Failure failure;  // without any facts
  failure.rule = BuiltIn().FindFailure("E1000");
  const FailureScope scope(BuiltIn(), failure);
  for (const Remedy& remedy : BuiltIn().remedies) {
    for (const auto& [framework, steps] : remedy.how) {
      INFO(remedy.id << ", " << framework);
      CHECK(
          std::any_of(steps.begin(), steps.end(), [&](const Sentence& step) { return step.Fill(scope).has_value(); }));
    }
  }
}

TEST_CASE("steps for TensorFlow and PyTorch do not use JAX", "[rules]") {
  const std::vector<std::string> calls = {"jax.", "jnp.", "jitted", "optax", "NamedSharding"};
  for (const Remedy& remedy : BuiltIn().remedies) {
    if (remedy.id.starts_with("sc_")) continue;  // SparseCore settings exist only in one API
    for (const char* framework : {"tensorflow", "pytorch_xla"}) {
      const auto own = remedy.how.find(framework);
      const std::vector<Sentence>& steps = own == remedy.how.end() ? remedy.how.at("jax") : own->second;
      for (const Sentence& step : steps) {
        const std::string& text = step.text.source();
        INFO(remedy.id << ", " << framework << ": " << text);
        CHECK(std::none_of(calls.begin(), calls.end(),
                           [&](const std::string& call) { return text.find(call) != std::string::npos; }));
      }
    }
  }
}

TEST_CASE("steps do not name flags or values that do not exist", "[rules]") {
  // tests/advice tries each flag with the compiler.
  for (const Remedy& remedy : BuiltIn().remedies) {
    std::string steps;
    for (const auto& [framework, how] : remedy.how) {
      for (const Sentence& step : how) steps += " " + step.text.source();
    }
    INFO(remedy.id);
    for (const char* wrong : {"tpu_shared_memory_percent", "kBrkga", "kList", "kDfs", "kPostOrder"})
      CHECK(steps.find(wrong) == std::string::npos);
    // The dump flag belongs in XLA_FLAGS; LIBTPU_INIT_ARGS rejects it.
    CHECK(steps.find("LIBTPU_INIT_ARGS=--xla_dump_to") == std::string::npos);
  }
}

}  // namespace TEST_FILE
