// A model of GitHub's runner: which lines of a step's output it executes as commands. A command is "::name
// properties::data" at the beginning of a line, after blanks, or "##[name properties]data" anywhere in a line. Between
// "::stop-commands::token" and a command named like the token, everything is text.
#pragma once

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

struct RunnerCommand {
  std::string name;
  std::map<std::string, std::string> properties;
  std::string data;
};

class RunnerModel {
 public:
  // Returns the commands in `output` in order, except those that stop and resume commands.
  std::vector<RunnerCommand> Read(const std::string& output) {
    std::vector<RunnerCommand> obeyed;
    for (std::size_t begin = 0; begin < output.size();) {
      const std::size_t end = std::min(output.find('\n', begin), output.size());
      if (auto command = Parse(output.substr(begin, end - begin))) Obey(*command, &obeyed);
      begin = end + 1;
    }
    return obeyed;
  }
  bool stopped() const { return !token_.empty(); }

 private:
  // Length of the white space at `begin`, as .NET's TrimStart defines it; 0: none.
  static std::size_t BlankAt(const std::string& line, std::size_t begin) {
    for (const char* blank : {" ",      "\t",     "\r",     "\f",     "\v",     "\u0085", "\u00A0", "\u1680",
                              "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007",
                              "\u2008", "\u2009", "\u200A", "\u2028", "\u2029", "\u202F", "\u205F", "\u3000"}) {
      const std::string text = blank;
      if (line.compare(begin, text.size(), text) == 0) return text.size();
    }
    return 0;
  }
  static std::string Lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
  }
  static std::string Unescape(std::string text, const std::vector<std::pair<std::string, std::string>>& escapes) {
    for (const auto& [escape, semantics] : escapes) {
      for (std::size_t at = text.find(escape); at != std::string::npos; at = text.find(escape, at + semantics.size()))
        text.replace(at, escape.size(), semantics);
    }
    return text;
  }
  bool IsKnown(const std::string& name) const {
    static const std::set<std::string> known = {
        "error",    "warning",  "notice",     "debug", "group",       "endgroup",       "set-env",      "set-output",
        "add-path", "add-mask", "save-state", "echo",  "add-matcher", "remove-matcher", "stop-commands"};
    return known.count(Lower(name)) != 0 || (stopped() && Lower(name) == Lower(token_));
  }
  std::optional<RunnerCommand> Make(const std::string& info, char separator, std::string data) const {
    RunnerCommand command;
    const std::size_t blank = std::min(info.find(' '), info.size());
    command.name = Lower(info.substr(0, blank));
    if (!IsKnown(command.name)) return std::nullopt;
    for (std::size_t begin = blank + 1; begin < info.size();) {
      const std::size_t end = std::min(info.find(separator, begin), info.size());
      const std::string property = info.substr(begin, end - begin);
      const std::size_t equals = property.find('=');
      if (equals != std::string::npos) {
        command.properties[property.substr(0, equals)] = Unescape(
            property.substr(equals + 1), {{"%0D", "\r"}, {"%0A", "\n"}, {"%3A", ":"}, {"%2C", ","}, {"%25", "%"}});
      }
      begin = end + 1;
    }
    command.data = Unescape(std::move(data), {{"%0D", "\r"}, {"%0A", "\n"}, {"%25", "%"}});
    return command;
  }
  std::optional<RunnerCommand> Parse(const std::string& line) const {
    std::size_t begin = 0;
    while (const std::size_t blank = BlankAt(line, begin)) begin += blank;
    const std::size_t end = line.find("::", begin + 2);
    if (line.compare(begin, 2, "::") == 0 && end != std::string::npos) {
      if (auto command = Make(line.substr(begin + 2, end - begin - 2), ',', line.substr(end + 2))) return command;
    }
    const std::size_t old = line.find("##[");
    const std::size_t bracket = old == std::string::npos ? old : line.find(']', old);
    if (bracket == std::string::npos) return std::nullopt;
    return Make(line.substr(old + 3, bracket - old - 3), ';', line.substr(bracket + 1));
  }
  void Obey(const RunnerCommand& command, std::vector<RunnerCommand>* obeyed) {
    if (stopped()) {
      if (command.name == Lower(token_)) token_.clear();
    } else if (command.name == "stop-commands") {
      token_ = command.data;
    } else {
      obeyed->push_back(command);
    }
  }

  std::string token_;  // set while commands are stopped
};
