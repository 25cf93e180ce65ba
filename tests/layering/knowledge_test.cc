// Knowledge about failures belongs in the rule data: no string in the program is an id from it, and no string in the
// layers below the printers explains a failure, its cause or a remedy.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"

using namespace whyoom;

namespace TEST_FILE {

namespace fs = std::filesystem;

struct Literal {
  std::string text;       // as written; adjacent literals are concatenated
  std::string statement;  // the code between the end of the last statement or block and the literal, without blanks
  std::size_t line = 0;
};

std::size_t EndOfQuoted(const std::string& code, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < code.size() && code[end] != code[begin]) end += code[end] == '\\' ? 2 : 1;
  return end;
}

// The literals of a source file, except those in comments.
std::vector<Literal> Literals(const std::string& code) {
  std::vector<Literal> literals;
  std::size_t line = 1;
  std::string statement;
  bool continues = false;  // only blanks since the last literal
  const auto add = [&](const std::string& text) {
    if (continues) {
      literals.back().text += text;
    } else {
      literals.push_back({text, statement, line});
    }
    continues = true;
  };
  for (std::size_t i = 0; i < code.size(); ++i) {
    const std::size_t begin = i;
    const bool in_number = i > 0 && std::isdigit(static_cast<unsigned char>(code[i - 1])) != 0;
    if (code.compare(i, 2, "//") == 0) {
      i = std::min(code.find('\n', i), code.size()) - 1;
    } else if (code.compare(i, 2, "R\"") == 0) {
      const std::size_t open = code.find('(', i);
      const std::string close = ")" + code.substr(i + 2, open - i - 2) + "\"";
      const std::size_t end = code.find(close, open);
      add(code.substr(open + 1, end - open - 1));
      i = end + close.size() - 1;
    } else if (code[i] == '"') {
      i = EndOfQuoted(code, i);
      add(code.substr(begin + 1, i - begin - 1));
    } else if (code[i] == '\'' && !in_number) {
      i = EndOfQuoted(code, i);
      continues = false;
    } else if (std::isspace(static_cast<unsigned char>(code[i])) == 0) {
      continues = false;
      const bool at_end = i + 1 == code.size() || code[i + 1] == '\n';  // otherwise the brace belongs to a value
      const bool ends = code[i] == ';' || (at_end && (code[i] == '{' || code[i] == '}'));
      statement = ends ? "" : statement + code[i];
    }
    line += static_cast<std::size_t>(
        std::count(code.begin() + static_cast<std::ptrdiff_t>(begin),
                   code.begin() + static_cast<std::ptrdiff_t>(std::min(i + 1, code.size())), '\n'));
  }
  return literals;
}

// The text of each source file, by layer and file name.
std::map<std::string, std::string> Sources() {
  std::map<std::string, std::string> sources;
  const fs::path root = fs::path(WHYOOM_SOURCE_DIR) / "src";
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cc") continue;
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    sources[fs::relative(entry.path(), root).string()] = text.str();
  }
  return sources;
}

std::set<std::string> RuleDataIds() {
  std::set<std::string> ids;
  for (const Remedy& remedy : BuiltInRules().remedies) ids.insert(remedy.id);
  for (const Framework& framework : BuiltInRules().frameworks) ids.insert(framework.id);
  for (const Chip& chip : BuiltInRules().chips) ids.insert(chip.id);
  for (const FailureRule& rule : BuiltInRules().failures) {
    ids.insert(rule.code);
    ids.insert(rule.aliases.begin(), rule.aliases.end());
  }
  return ids;
}

// Whether the text contains three consecutive words and is not a pattern.
bool IsProse(const std::string& text) {
  static const std::regex words(R"([a-z']{2,}[,:;]? [a-z']+[,:;]? [a-z']{2,})");
  static const std::regex pattern(R"(\\[sdbw(]|\[\^)");
  return std::regex_search(text, words) && !std::regex_search(text, pattern);
}

// A problem with an input is not about the failure, so it is allowed.
bool IsOfProblem(const std::string& statement) {
  static const std::regex problem(R"([Pp]roblem|(?:Tell|Refuse|Note)\(|throwError\(|->what|\.what)");
  return std::regex_search(statement, problem);
}

// Whether the text reports what a pattern or a step did, for `rules trace`.
bool IsRecorded(const std::string& statement) {
  static const std::regex recorded(R"(RecordedStep\(|\bstep\.Set\()");
  return std::regex_search(statement, recorded);
}

bool IsBelowPrinters(const std::string& path) {
  static constexpr std::array<std::string_view, 4> kLayers = {"diagnose/", "program/", "read/", "facts/"};
  return std::any_of(kLayers.begin(), kLayers.end(), [&](std::string_view layer) { return path.starts_with(layer); });
}

struct Exception {
  std::string file;
  std::string text;  // start of the literal
  std::string why;
};

const std::vector<Exception> kIds = {
    {"program/hlo.h", "bf16", "the element type; the remedy has the same name"},
    {"rules/rule_set.h", "jax", "the framework whose steps apply to others"},
};

const std::string kOfFiles = "a fault of the files of a dump, reported as a Problem";
const std::string kPrinted = "text to search for, printed by a compiler or Python";

const std::vector<Exception> kProse = {
    {"program/dump_files.cc", "truncated or damaged: ", kOfFiles},
    {"program/dump_files.cc", "from another compile than the other files", kOfFiles},
    {"program/dump_files.h", "the file contains no buffer assignment", kOfFiles},
    {"program/dump_files.h", "cannot determine how much memory the program needs", kOfFiles},
    {"program/dump_files.cc", "ignored, so cannot estimate what would fit", kOfFiles},
    {"program/dump_files.h", "cannot estimate what would fit or the effect of remedies", kOfFiles},
    {"program/dump_files.cc", "the folder contains no HLO text of this module: ", kOfFiles},
    {"program/dump_files.cc", "the folder contains no live ranges of this module: ", kOfFiles},
    {"program/xla_dump.cc", "the log does not name the module that failed", kOfFiles},
    {"program/xla_dump.cc", "the XLA dump contains no failed compile", kOfFiles},
    {"program/xla_dump.h", "no buffer assignment (after_optimizations", kOfFiles},
    {"program/memory.cc", "Total bytes used", kPrinted},
    {"read/memory_report_reader.cc", "Heap allocator status", kPrinted},
    {"read/memory_report_reader.cc", "Largest program allocations", kPrinted},
    {"read/memory_report_reader.cc", "Extra memory due to padding", kPrinted},
};

bool IsExcepted(const std::vector<Exception>& exceptions, const std::string& file, const std::string& text) {
  return std::any_of(exceptions.begin(), exceptions.end(),
                     [&](const Exception& one) { return one.file == file && text.starts_with(one.text); });
}

std::vector<std::string> Ids(const std::string& file, const std::string& code, const std::set<std::string>& ids) {
  std::vector<std::string> found;
  for (const Literal& literal : Literals(code)) {
    if (ids.contains(literal.text) && !IsExcepted(kIds, file, literal.text))
      found.push_back(file + ":" + std::to_string(literal.line) + ": " + literal.text);
  }
  return found;
}

std::vector<std::string> Prose(const std::string& file, const std::string& code) {
  std::vector<std::string> found;
  for (const Literal& literal : Literals(code)) {
    if (!IsProse(literal.text) || IsOfProblem(literal.statement) || IsRecorded(literal.statement)) continue;
    if (!IsExcepted(kProse, file, literal.text))
      found.push_back(file + ":" + std::to_string(literal.line) + ": " + literal.text);
  }
  return found;
}

TEST_CASE("no string of the program is an id of a remedy, framework, chip or failure", "[layering]") {
  const std::set<std::string> ids = RuleDataIds();
  REQUIRE(ids.size() > 60);
  const std::map<std::string, std::string> sources = Sources();
  REQUIRE(sources.size() > 150);
  for (const auto& [file, code] : sources) CHECK(Ids(file, code, ids) == std::vector<std::string>());
}

TEST_CASE("strings below the printers only describe problems with inputs and recorded steps", "[layering]") {
  for (const auto& [file, code] : Sources()) {
    if (IsBelowPrinters(file)) CHECK(Prose(file, code) == std::vector<std::string>());
  }
}

TEST_CASE("every exception is still needed", "[layering]") {
  const std::map<std::string, std::string> sources = Sources();
  for (const std::vector<Exception>* exceptions : {&kIds, &kProse}) {
    for (const Exception& one : *exceptions) {
      INFO(one.file << ": " << one.text);
      CHECK(one.why.size() > 10);
      REQUIRE(sources.contains(one.file));
      const std::vector<Literal> literals = Literals(sources.at(one.file));
      CHECK(std::any_of(literals.begin(), literals.end(),
                        [&](const Literal& literal) { return literal.text.starts_with(one.text); }));
    }
  }
}

TEST_CASE("this check detects ids and prose", "[layering]") {
  const std::set<std::string> ids = {"donate_buffers", "vllm"};
  CHECK(Ids("a.cc", "int a; // \"vllm\"\nf(\"donate_\"\n  \"buffers\");\n", ids) ==
        std::vector<std::string>{"a.cc:2: donate_buffers"});
  CHECK(Ids("a.cc", "g('\"'); f(R\"x(vllm)x\"); h(\"a vllm\");", ids) == std::vector<std::string>{"a.cc:1: vllm"});
  CHECK(Ids("program/hlo.h", "f(\"bf16\");", {"bf16"}).empty());
  CHECK(Ids("facts/row_fields.cc", "f(\"bf16\");", {"bf16"}).size() == 1);
  CHECK(Prose("a.cc", "reason = \"the largest of\\n\" \"the arrays\";").size() == 1);
  CHECK(Prose("a.cc", "problems->push_back({path, \"it holds no dump\"});").empty());
  CHECK(Prose("a.cc", "throw Error(\"it holds no dump\"); why = \"it is too large\";").size() == 1);
  CHECK(Prose("a.cc", "RE2 re(R\"(^\\s*the whole of a line)\"); f(\"two words\");").empty());
}

}  // namespace TEST_FILE
