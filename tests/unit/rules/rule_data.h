// Rule data for tests that must not depend on rules/*.json.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rules/rule_compiler.h"

namespace whyoom {

inline RuleFile BaseRules() {
  return {"base.json", R"json({
  "format": "whyoom.rules/1",
  "failures": [{
    "code": "E1000", "aliases": ["HbmOom"], "title": "out of memory", "category": "Compile", "phase": "compile",
    "about": [["One", "paragraph."], "Another."],
    "links": [{"title": "docs", "url": "https://example.com/"}],
    "heads": [{"pattern": "Ran out of memory\\. Used %{size:used_bytes} of %{size:limit_bytes}"},
              {"pattern": "CompileTimeHbmOom", "line_start": true, "fragment": true},
              "(?:HostName|DeviceName)Failure"],
    "facts": ["Exceeded by %{size:excess_bytes}", "tag %{word:tag}", "a long literal of %{word:thing}"],
    "memory_space": "hbm",
    "contexts": ["remat"],
    "derived": [{"fact": "excess_bytes", "from": "used_bytes - limit_bytes", "when": "known(used_bytes)"},
                {"fact": "label", "from": "default(tag, 'none')", "replace": true}],
    "identity": ["used_bytes"], "numbers": ["used_bytes", "limit_bytes"],
    "absorbed_by": ["0100"],
    "scenarios": [{
      "id": "2", "title": "one is too large", "priority": 10, "when": "largest.size_bytes > 0.5 * limit_bytes",
      "about": ["for", "explain"],
      "why": [{"text": "One takes {size_bytes|size}.", "row": "rank == 1"},
              {"text": ["All take", "{total_bytes|size}."], "when": "known(total_bytes)", "at": "total_bytes"}],
      "remedies": [{"id": "shard", "section": "2", "prior": 20}, {"id": "bf16", "section": "3.A"}]
    }],
    "why": [{"text": "{before_bytes|size} before."}],
    "remedies": [{"id": "shard", "section": "2", "prior": 1}],
    "examples": [{"text": ["Ran out of memory.", "Used 2G of 1G"], "facts": {"used_bytes": 2147483648, "tag": "x"}, "scenario": "2"},
                {"text": "CompileTimeHbmOom", "scenario": ""}, {"text": "HostNameFailure"}],
      "counterexamples": [{"text": "all is well", "why": "it says so"}]
  }, {
    "code": "0100", "title": "allocation", "category": "Runtime", "phase": "run",
    "heads": ["Error allocating device buffer"],
    "consequence_of": ["E1000"],
    "examples": [{"text": "Error allocating device buffer"}]
  }],
  "remedies": [{
    "id": "shard", "title": "Shard it", "safety": "safe", "safe_why": "It is.", "cost": 1, "gain": "much", "telltale": "big",
    "note": "none", "how": {"jax": ["Shard {largest.name|short}.", ["then", "run"]], "keras": ["Use it."]},
    "links": [{"title": "docs", "url": "https://example.com/"}],
    "evidence": [{"when": "used_bytes > limit_bytes", "at": "used_bytes", "text": "too much"}],
    "ruled_out": [{"when": "listed == 0", "text": "nothing to shard"}],
    "saves": "sum_of(size_bytes, replicated)", "with": ["bf16"]
  }, {
    "id": "bf16", "title": "Use bf16", "safety": "changes_training", "safe_why": "Less precise.", "cost": 4, "inquiry": true,
    "gain": "half", "telltale": "f32", "note": "none", "how": {"jax": ["astype"]}, "links": []
  }],
  "contexts": [{"id": "remat", "patterns": ["rematerialization from %{size:before_bytes}"],
                "examples": [{"text": "rematerialization from 5G", "facts": {"before_bytes": 5368709120}}]}],
  "frameworks": [{"id": "jax", "priority": 1, "signs": ["\\bjax\\b"], "examples": ["import jax"]},
                 {"id": "keras", "priority": 5, "signs": ["keras"], "examples": ["keras"]}],
  "chips": [{"id": "v5e", "limits": ["15.75G", 16911433728]}],
  "quotations": [{"id": "grep", "lead": "^grep ", "examples": ["grep x"]}],
  "affixes": [{"id": "rank", "place": "prefix", "pattern": "\\[(?P<reporter>rank\\d+)\\]: ", "examples": [{"text": "[rank0]: x", "leaves": "x"}]},
              {"id": "times", "place": "suffix", "pattern": " x\\d+", "examples": [{"text": "a x5", "leaves": "a"}]}],
  "json_logs": {"text": ["/message"], "reporter": ["/host"]},
  "terms": {"replicated": "contains(xla_label, 'replicated')"},
  "wording": {"diff.total.need_bytes": [{"text": "needed"}]}
})json"};
}

// Loads `files` over `built_in`; returns the faults, one per line.
inline std::string Load(std::vector<RuleFile> built_in, const std::vector<RuleFile>& files, RuleSet* set) {
  for (RuleFile& file : built_in) file.layer = 0;
  CompiledRules base = CompileRules({}, built_in);
  CompiledRules compiled = CompileRules(std::move(base.rules), files);
  *set = std::move(compiled.rules);
  base.faults.insert(base.faults.end(), compiled.faults.begin(), compiled.faults.end());
  std::string text;
  for (const Fault& fault : base.faults) text += fault.ToString() + "\n";
  return text;
}

inline std::string LoadFaults(const std::string& user_text) {
  RuleSet set;
  return Load({BaseRules()}, {{"user.json", user_text}}, &set);
}

}  // namespace whyoom
