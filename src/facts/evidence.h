// Facts from a log, each with the place that proves it, or from a dump. Readers collect facts and draw no conclusions.
// Also places in inputs and in source files.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "input/artifact.h"
#include "rules/expression.h"
#include "rules/rule_set.h"
#include "rules/value.h"

namespace whyoom {

struct Place {
  std::uint64_t line = 0;    // 1-based; 0 for a fact that is derived or from a dump
  std::uint64_t offset = 0;  // bytes from the start of the artifact
};

struct Where {
  Artifact artifact;
  std::uint64_t line = 0;
  std::uint64_t last_line = 0;
  std::uint64_t offset = 0;

  // By path and member (as bytes), then offset; the lines make the order total.
  auto Key() const { return std::tie(artifact.path, artifact.member, offset, line, last_line); }
  friend std::strong_ordering operator<=>(const Where& a, const Where& b) { return a.Key() <=> b.Key(); }
};

struct Fact {
  Value value;
  Place place;
};

class Evidence : public Scope {
 public:
  // Keeps an existing fact unless `replace` is true: the first value found is nearest to the header. Ignores an unknown
  // value.
  void Set(std::string_view name, Value value, Place place, bool replace = false);

  void Remove(std::string_view name) { facts_.erase(std::string(name)); }  // does nothing if there is no such fact
  const Fact* Find(std::string_view name) const;                           // nullptr if not known
  Value Get(std::string_view name) const override;
  std::optional<double> Number(std::string_view name) const { return AsNumber(Get(name)); }
  std::string Text(std::string_view name) const;  // empty if not known or not a text
  const std::map<std::string, Fact, std::less<>>& all() const { return facts_; }

  // Adds the facts of `other` that are missing here, or all if `replace` is true.
  void Add(const Evidence& other, bool replace = false);

  void MaskSecrets();

 private:
  std::map<std::string, Fact, std::less<>> facts_;
};

// Derives facts by the formulas of the rule data, in list order. A formula can use the facts that were read, which
// `read` contains, and those that earlier formulas derived. Returns only the derived facts; their `place` is empty.
Evidence Derive(const std::vector<DerivedFact>& derived, const Scope& read);

// Whether any of the named facts is known in both, with different values.
bool Contradict(const Evidence& a, const Evidence& b, const std::vector<std::string>& names);

// Whether a compiler's report counts only the temporaries, because they alone exceed the limit. Such a report prints
// arguments and outputs as 0, so the program needs more than the report states.
bool CountsTemporariesOnly(const Evidence& facts);

// Makes a path or a member's name printable, masks secrets and bounds its length, beyond what Linux can open.
std::string BoundedPath(const std::string& path);

void MaskSecretsOf(std::vector<Problem>* problems);

// Whether `path` is library code: an installed package (site-packages, dist-packages), Python's own library, or the
// source folders in vLLM's container images. Also true for code without a file ("<frozen runpy>", "<string>").
bool IsLibraryPath(std::string_view path);

// The last part of `path`.
std::string BaseName(std::string_view path);

// A short form of a source line: "train.py:41", or "Cell In[5], line 3" for a notebook cell, as IPython names it.
// Without a line number, only the file.
std::string SourceLineText(std::string_view path, const std::optional<std::int64_t>& line);

}  // namespace whyoom
