#include "diagnose/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

#include "diagnose/read_input.h"
#include "facts/masking.h"
#include "read/message.h"
#include "rules/names.h"
#include "text/secrets.h"

namespace whyoom {
namespace {

constexpr std::size_t kShownLine = 400;

using Seen = ReadTrace::Seen;

// One artifact as it was read.
struct ArtifactTrace : ReadTrace {
  ArtifactTrace(const Engine& engine, Artifact of) : ReadTrace(engine), artifact(std::move(of)) {}

  Artifact artifact;
  std::optional<BufferedLines> asked;      // the lines around the requested one
  std::set<std::uint64_t> unknown_errors;  // line numbers
};

// Replaces figures, which differ between runs and hosts.
std::string WithoutFigures(const std::string& text) {
  std::string plain;
  for (const char c : text) {
    const bool is_figure = c >= '0' && c <= '9';
    if (!is_figure) plain += c;
    if (is_figure && !plain.ends_with('#')) plain += '#';
  }
  return plain;
}

bool Reaches(const Seen& seen, std::uint64_t line) { return seen.line <= line && line <= seen.last_line; }

// Sets what the reader did with a header that matches in a line.
void SetFate(const ArtifactTrace& artifact, const std::string& stream_name, TracedHeader* head) {
  if (head->trace.outcome != HeaderTrace::Outcome::kMatched) return;
  const Failure& failure = *head->trace.failure;
  const std::uint64_t line = head->trace.place.line;
  head->fate = TracedHeader::Fate::kOther;
  const auto find = [&](auto holds) -> const Seen* {
    const auto found = std::find_if(artifact.seen.begin(), artifact.seen.end(),
                                    [&](const Seen& seen) { return seen.stream_name == stream_name && holds(seen); });
    return found == artifact.seen.end() ? nullptr : &*found;
  };
  if (find([&](const Seen& seen) { return seen.failure == &failure && seen.line == line; }) != nullptr) {
    head->fate = TracedHeader::Fate::kOpened;
    return;
  }
  const Seen* by = find([&](const Seen& seen) { return seen.failure == &failure && Reaches(seen, line); });
  if (by != nullptr) head->fate = TracedHeader::Fate::kSameFailure;
  // A message that contains another failure's header may continue for some lines after it.
  if (by == nullptr) {
    by = find([&](const Seen& seen) {
      const bool near = seen.line <= line + kLookAhead && line <= seen.last_line + kLookAhead;
      return near && IsAbsorbedBy(failure, *seen.failure);
    });
    if (by != nullptr) head->fate = TracedHeader::Fate::kAbsorbed;
  }
  if (by == nullptr && head->trace.head->of_report) head->fate = TracedHeader::Fate::kOfReport;
  if (by == nullptr) return;
  head->by = by->failure;
  head->by_line = by->line;
}

// If several headers of one failure are in one line, only the first one started it.
void KeepFirst(std::vector<TracedHeader>* header_patterns) {
  for (TracedHeader& head : *header_patterns) {
    if (head.fate != TracedHeader::Fate::kOpened) continue;
    const bool is_later = std::any_of(header_patterns->begin(), header_patterns->end(), [&](const TracedHeader& other) {
      return other.fate == TracedHeader::Fate::kOpened && other.trace.failure == head.trace.failure &&
             other.trace.place.column < head.trace.place.column;
    });
    if (!is_later) continue;
    head.fate = TracedHeader::Fate::kSameFailure;
    head.by = head.trace.failure;
    head.by_line = head.trace.place.line;
  }
}

// The possible origins of a failure's facts, from the rule data only.
class FactSources {
 public:
  FactSources(const RuleSet& rules, const Failure& failure) {
    for (const HeaderPattern& head : failure.header_patterns)
      Add("header pattern " + head.id, head.pattern.capture_names());
    for (const Pattern& pattern : failure.facts) Add("pattern " + pattern.source(), pattern.capture_names());
    for (const Context& context : rules.contexts()) {
      const std::vector<std::string>& of = failure.contexts;
      if (std::find(of.begin(), of.end(), context.id) == of.end()) continue;
      for (const Pattern& pattern : context.patterns) Add("context " + context.id, pattern.capture_names());
    }
    Add("memory report", ReaderFacts(failure.reader));
  }

  std::string Of(const std::string& name, const Fact& fact) const {
    if (name == "chip") return "chips";
    if (name.starts_with("user_source")) return "the traceback";
    if (fact.place.line == 0) return "";
    constexpr std::size_t kNamed = 2;
    std::string text;
    std::size_t count = 0;
    for (const auto& [source, facts] : sources_) {
      if (facts.contains(name) && ++count <= kNamed) text += (count > 1 ? " or " : "") + source;
    }
    return (count > 1 ? "possibly " : "") + text + (count > kNamed ? fmt::format(" or {} more", count - kNamed) : "");
  }

  // Returns the sources without any known fact.
  std::vector<std::string> Silent(const Evidence& known) const {
    std::vector<std::string> silent;
    for (const auto& [source, facts] : sources_) {
      const auto is_known = [&](const std::string& name) { return known.Find(name) != nullptr; };
      if (!facts.empty() && std::none_of(facts.begin(), facts.end(), is_known)) silent.push_back(source);
    }
    return silent;
  }

 private:
  // Patterns of one context are one source.
  void Add(const std::string& source, const std::vector<std::string>& facts) {
    if (sources_.empty() || sources_.back().first != source) sources_.push_back({source, {}});
    sources_.back().second.insert(facts.begin(), facts.end());
  }

  std::vector<std::pair<std::string, std::set<std::string>>>
      sources_;  // with their facts, in the order of the rule data
};

FindingTrace TraceFacts(const RuleSet& rules, const Diagnosis& diagnosis) {
  FindingTrace trace;
  trace.diagnosis = &diagnosis;
  const FactSources sources(rules, *diagnosis.failure);
  for (const auto& [name, fact] : diagnosis.facts.all())
    trace.facts.push_back({name, fact.value, fact.place.line, sources.Of(name, fact)});
  trace.silent = sources.Silent(diagnosis.facts);
  return trace;
}

class Tracer {
 public:
  Tracer(const Engine& engine, const TraceRequest& request) : engine_(engine), heads_(engine) {
    trace_.request = request;
  }

  Readings Read(const Artifact& artifact, ByteSource& source, const ReadOptions& options) {
    ArtifactTrace& one = artifacts_.emplace_back(engine_, artifact);
    ReadOptions settings = options;
    settings.trace = &one;
    const bool is_asked = trace_.request.line > 0;
    LineTap tap(source, trace_.request.line, &one.asked.emplace(engine_));
    Readings readings = ReadArtifact(engine_, artifact, is_asked ? tap : source, settings);
    one.kept.Finish();
    tap.Finish();
    if (!is_asked || trace_.request.line > tap.lines()) one.asked.reset();
    trace_.last_line = std::max(trace_.last_line, tap.lines());
    trace_.is_truncated = trace_.is_truncated || one.kept.full();
    for (const Problem& problem : readings.problems) {
      if (problem.is_unknown_error()) one.unknown_errors.insert(problem.line);
    }
    return readings;
  }

  LogTrace Finish(Readings readings) {
    trace_.artifacts = readings.artifacts;
    trace_.bytes = readings.bytes;
    trace_.problems = std::move(readings.problems);
    if (readings.table) Conclude(&*readings.table);
    MaskSecretsOf(&trace_.problems);
    for (const ArtifactTrace& artifact : artifacts_) TraceLines(artifact);
    const bool is_near = std::any_of(trace_.lines.begin(), trace_.lines.end(), [](const LineTrace& line) {
      return std::any_of(line.header_patterns.begin(), line.header_patterns.end(),
                         [](const TracedHeader& head) { return !head.trace.literal.empty(); });
    });
    if (!is_near) trace_.literals = heads_.literals();
    return std::move(trace_);
  }

 private:
  void Conclude(FindingTable* table) {
    std::map<std::pair<std::string, std::string>, Recorder> recordings;  // by code and id of the finding
    table->SetRecorder([&](const Diagnosis& finding) {
      const bool is_asked = finding.where.line <= trace_.request.line && trace_.request.line <= finding.where.last_line;
      const bool is_kept = recordings.size() < (is_asked ? 2 : 1) * kMostTracedFindings;
      return is_kept ? &recordings[{finding.failure->code, finding.id}] : nullptr;
    });
    trace_.diagnoses = table->Finish(&trace_.problems);
    for (const Diagnosis& diagnosis : trace_.diagnoses) {
      const auto recording = recordings.find({diagnosis.failure->code, diagnosis.id});
      if (recording == recordings.end()) {
        ++trace_.findings_left_out;
        continue;
      }
      FindingTrace& one = trace_.findings.emplace_back(TraceFacts(engine_.rules(), diagnosis));
      one.recorded = recording->second.Take();
      const std::vector<std::string>& causes = diagnosis.failure->consequence_of;
      for (const Diagnosis& cause : trace_.diagnoses) {
        if (std::find(causes.begin(), causes.end(), cause.failure->code) != causes.end()) one.causes.push_back(&cause);
      }
    }
  }

  const ArtifactTrace* FindArtifact(const Artifact& artifact) const {
    for (const ArtifactTrace& one : artifacts_) {
      if (BoundedPath(one.artifact.path) == artifact.path && BoundedPath(one.artifact.member) == artifact.member)
        return &one;
    }
    return nullptr;
  }

  void TraceLines(const ArtifactTrace& artifact) {
    if (artifact.asked) {
      for (const std::size_t place : artifact.asked->At(trace_.request.line)) AddLine(artifact, *artifact.asked, place);
    }
    if (trace_.request.line > 0) return;
    std::map<std::string, std::size_t> alike;  // index into trace_.lines by text
    for (std::size_t place = 0; place < artifact.kept.size(); ++place) {
      const Line& line = artifact.kept.line(place);
      if (!heads_.ContainsLiteral(line.text) && !artifact.kept.suspect(place)) continue;
      const auto [known, is_new] = alike.try_emplace(WithoutFigures(line.text), trace_.lines.size());
      if (is_new && trace_.lines.size() < kMostTracedLines) {
        AddLine(artifact, artifact.kept, place);
      } else if (!is_new && known->second < trace_.lines.size()) {
        ++trace_.lines[known->second].alike;
      } else {
        ++trace_.lines_left_out;
      }
    }
  }

  void AddLine(const ArtifactTrace& artifact, const BufferedLines& kept, std::size_t place) {
    if (trace_.lines.size() >= kMostTracedLines) {
      ++trace_.lines_left_out;
      return;
    }
    const LineWindow window = kept.WindowAt(place);
    const Line& line = kept.line(place);
    LineTrace one;
    one.artifact = {BoundedPath(artifact.artifact.path), BoundedPath(artifact.artifact.member)};
    one.line = line.number;
    one.stream_name = MaskSecrets(line.stream_name);
    one.text = MaskSecrets(std::string_view(line.text).substr(0, 4 * kShownLine)).substr(0, kShownLine);
    one.healthy = line.healthy;
    one.binary = line.binary;
    one.suspect = kept.suspect(place);
    one.unknown_error = artifact.unknown_errors.contains(line.number);
    for (HeaderTrace& trace : heads_.TraceHeaders(window, trace_.request.codes)) {
      TracedHeader& head = one.header_patterns.emplace_back();
      head.trace = std::move(trace);
      SetFate(artifact, line.stream_name, &head);
    }
    KeepFirst(&one.header_patterns);
    for (const Diagnosis& diagnosis : trace_.diagnoses) {
      if (FindArtifact(diagnosis.where.artifact) == &artifact && diagnosis.where.line <= line.number &&
          line.number <= diagnosis.where.last_line)
        one.part_of.push_back(&diagnosis);
    }
    trace_.lines.push_back(std::move(one));
  }

  const Engine& engine_;
  const HeaderTracer heads_;
  std::deque<ArtifactTrace> artifacts_;
  LogTrace trace_;
};

}  // namespace

LogTrace TraceInputs(const Engine& engine, const std::vector<Artifact>& inputs, const TraceRequest& request,
                     const Limits& limits, ReadControl* control) {
  Tracer tracer(engine, request);
  Readings readings;
  const auto read = [&](const Artifact& artifact, ByteSource& source, const ReadOptions& options) {
    return tracer.Read(artifact, source, options);
  };
  for (const Artifact& input : inputs) {
    ReadOptions options;
    options.control = control;
    readings.Join(ReadInput(input, limits, options, read));
  }
  return tracer.Finish(std::move(readings));
}

}  // namespace whyoom
