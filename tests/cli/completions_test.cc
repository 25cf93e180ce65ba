// Shell completions match --help, for every command.
#include <algorithm>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "catch.h"
#include "process.h"

namespace TEST_FILE {

using Names = std::set<std::string>;

const std::vector<std::vector<std::string>> kCommands = {{},
                                                         {"run"},
                                                         {"explain"},
                                                         {"diff"},
                                                         {"try"},
                                                         {"merge"},
                                                         {"rules", "list"},
                                                         {"rules", "check"},
                                                         {"rules", "test"},
                                                         {"rules", "trace"},
                                                         {"rules", "schema"},
                                                         {"completions"},
                                                         {"skill"}};

std::string Joined(const std::vector<std::string>& words) {
  std::string text = "whyoom";
  for (const std::string& word : words) text += " " + word;
  return text;
}

std::vector<std::string> With(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// "  -j,--jobs N   Read ..." contains -j and --jobs.
Names InHelp(const std::vector<std::string>& command) {
  const ProcessResult help = RunWhyoom(With(command, {"--help"}));
  REQUIRE(help.exit_status == 0);
  Names names;
  std::istringstream lines(help.out);
  static const std::regex entry(R"(^  (-[\w-]+)(?:,(-[\w-]+))?.*)");
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (!std::regex_match(line, found, entry)) continue;
    for (std::size_t i = 1; i < found.size(); ++i) {
      if (found[i].matched) names.insert(found[i]);
    }
  }
  return names;
}

struct Offered {
  std::string fill;
  Names words;
};

Offered Complete(const std::vector<std::string>& line) {
  const ProcessResult result = RunWhyoom(With({"__complete", "--"}, line));
  REQUIRE(result.exit_status == 0);
  REQUIRE(result.err.empty());
  std::istringstream lines(result.out);
  Offered offered;
  std::getline(lines, offered.fill);
  for (std::string entry; std::getline(lines, entry);) {
    REQUIRE(entry.find('\t') != std::string::npos);
    offered.words.insert(entry.substr(0, entry.find('\t')));
  }
  return offered;
}

TEST_CASE("completions offer exactly the options in --help", "[cli]") {
  for (const std::vector<std::string>& command : kCommands) {
    INFO(Joined(command));
    const Names help = InHelp(command);
    REQUIRE(help.count("--help") == 1);
    CHECK(Complete(With(command, {"-"})).words == help);
  }
  CHECK(InHelp({}).count("--format") == 1);
  CHECK(InHelp({}).count("-0") == 1);
}

TEST_CASE("no command is missing from completions or this test", "[cli]") {
  Names commands = Complete({""}).words;
  for (const std::string& rule_command : Complete({"rules", ""}).words) commands.insert("rules " + rule_command);
  commands.erase("rules");
  Names tested;
  for (const std::vector<std::string>& command : kCommands) {
    if (!command.empty()) tested.insert(Joined(command).substr(std::string("whyoom ").size()));
  }
  CHECK(commands == tested);
  const std::string help = RunWhyoom({"--help"}).out;
  for (const std::string& command : commands) CHECK(help.find(command.substr(0, command.find(' '))) != help.npos);
}

TEST_CASE("values are completed by their kind", "[cli]") {
  const Names formats = Complete({"--format", ""}).words;
  CHECK(formats.count("sarif") == 1);
  for (const std::string& format : formats) CHECK(RunWhyoom({"--format", format, "-"}).exit_status == 0);
  CHECK(Complete({"diff", "--format", ""}).words == Names{"text", "json"});
  CHECK(Complete({"--format=nd"}).words == Names{"--format=ndjson"});
  CHECK(Complete({"--format", "markdown=no"}).fill == "files\tmarkdown=");
  CHECK(Complete({"--format=markdown=no"}).fill == "files\t--format=markdown=");
  CHECK(Complete({"--color", "a"}).words == Names{"auto", "always"});
  CHECK(Complete({"--xla-dump", ""}).fill == "folders\t");
  CHECK(Complete({"--xla-dump=out/"}).fill == "folders\t--xla-dump=");
  CHECK(Complete({"--rules", ""}).fill == "files\t");
  CHECK(Complete({"rules", "trace", ""}).fill == "files\t");
  CHECK(Complete({"--since", ""}).fill == "none");
  CHECK(Complete({"completions", ""}).words == Names{"bash", "zsh", "fish"});
  CHECK(Complete({"completions", "zsh", ""}).words.empty());
  CHECK(Complete({"diff", "a", ""}).fill == "files\t");
  CHECK(Complete({"diff", "a", "b", ""}).fill == "none");
}

TEST_CASE("options are offered only in places that accept one", "[cli]") {
  CHECK(Complete({"train.log", "--xla"}).words == Names{"--xla-dump"});
  CHECK(Complete({"--", "--xla"}).words.empty());
  CHECK(Complete({"--", "--xla"}).fill == "files\t");
  CHECK(Complete({"--follow", "--fo"}).words == Names{"--format"});
  CHECK(Complete({"--format", "text", "--fo"}).words == Names{"--follow", "--format"});  // can be repeated
  CHECK(Complete({"--output", "--follow", "--fo"}).words.count("--follow") == 1);        // --follow is a file name here
  CHECK(Complete({"rules", "nonsense", "-"}).words.empty());
}

TEST_CASE("completions offer the topics of explain", "[cli]") {
  const Names topics = Complete({"explain", ""}).words;
  CHECK(topics.count("E1000.3") == 1);
  CHECK(topics.count("donate_buffers") == 1);
  REQUIRE(topics.size() > 30);
  for (const std::string& topic : topics) {
    INFO(topic);
    CHECK(RunWhyoom({"explain", topic}).exit_status == 0);
  }
  CHECK(Complete({"explain", "E1000.2"}).words == Names{"E1000.2"});
}

TEST_CASE("completions offer the frameworks of explain", "[cli]") {
  const Names frameworks = Complete({"explain", "E1000", "--framework", ""}).words;
  CHECK(frameworks.count("all") == 1);
  REQUIRE(frameworks.size() > 10);
  for (const std::string& framework : frameworks) {
    INFO(framework);
    CHECK(RunWhyoom({"explain", "donate_buffers", "--framework", framework}).exit_status == 0);
  }
  CHECK(Complete({"explain", "--framework=pyt"}).words == Names{"--framework=pytorch_xla"});
  Names of_logs = frameworks;
  of_logs.erase("all");  // only explain can show the steps of all frameworks
  CHECK(Complete({"--framework", ""}).words == of_logs);
  CHECK(Complete({"explain", "--format", ""}).words == Names{"text", "markdown"});
  CHECK(Complete({"explain", "--pages", ""}).fill == "folders\t");
}

TEST_CASE("run leaves the completion of the job's words to the shell", "[cli]") {
  CHECK(Complete({"run", ""}).fill == "job\t1");
  CHECK(Complete({"run", "pyth"}).fill == "job\t1");
  CHECK(Complete({"run", "--", ""}).fill == "job\t2");
  CHECK(Complete({"run", "--output", "x", "python", "--v"}).fill == "job\t3");
  CHECK(Complete({"run", "--keep"}).words == Names{"--keep-dump"});
  CHECK(Complete({"run", "--output", "x"}).fill == "files\t");
}

TEST_CASE("completion of invalid words offers nothing wrong", "[cli]") {
  CHECK(Complete({}).fill == "files\t");
  CHECK(Complete({"--no-such=x"}).words.empty());
  CHECK(Complete({"--no-such", "x"}).fill == "files\t");
  CHECK(Complete({"=", "--="}).words.empty());
  CHECK(Complete({"-"}).words.count("--help") == 1);
}

}  // namespace TEST_FILE
