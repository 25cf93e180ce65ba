// A small rule file and an example of its conclusions, for the tests of such examples.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "examples/rule_case.h"

namespace whyoom {

// A failure with a scenario and a remedy.
inline std::string PoolRules() {
  return R"({"format": "whyoom.rules/1",
    "failures": [{"code": "my.pool", "title": "the pool is full", "phase": "run", "category": "Pool", "about": "a", "links": [],
      "heads": [{"pattern": "my pool is full: wanted %{size:need_bytes} of %{size:have_bytes}"}],
      "derived": [{"fact": "excess_bytes", "from": "need_bytes - have_bytes"}],
      "scenarios": [{"id": "big", "title": "big", "when": "need_bytes > 2 * have_bytes", "about": "a",
                     "why": [{"text": "It wants {need_bytes|size}.", "at": "need_bytes"}]}],
      "remedies": [{"id": "drain_pool", "section": "1"}],
      "examples": [{"text": "my pool is full: wanted 3B of 9B"}]}],
    "remedies": [{"id": "drain_pool", "title": "Drain it", "safety": "safe", "cost": 1, "safe_why": "s", "gain": "g",
      "telltale": "t", "note": "n", "links": [], "how": {"jax": ["pool.drain"]},
      "evidence": [{"when": "largest.size_bytes > 0.5 * have_bytes", "row": "rank == 1", "text": "One array takes {size_bytes|size}."}],
      "ruled_out": [{"when": "have_bytes < 1GiB", "text": "the pool is small"}],
      "saves": "excess_bytes"
}]})";
}

inline RuleCase PoolCase(const std::string& facts, const std::string& expect, const std::string& more = "") {
  const std::string text = R"({"of": "my.pool", "facts": )" + facts + R"(, "expect": )" + expect + more + "}";
  return CaseOf(ReadDiagnosisExample(nlohmann::json::parse(text)), 1);
}

}  // namespace whyoom
