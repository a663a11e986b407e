// SPDX-License-Identifier: Apache-2.0
#include "config/yaml_document.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

namespace heddle {

namespace {

// Leaves the library's parser in the middle; caught in parse().
struct Refused {
  YamlMark mark;
  std::string key;
  std::string found;
  std::string allowed;
};

// Marks count from 0; the library gives -1 where it has no position.
YamlMark to_mark(const YAML::Mark& mark) {
  return {static_cast<uint32_t>(mark.line < 0 ? 0 : mark.line) + 1,
          static_cast<uint32_t>(mark.column < 0 ? 0 : mark.column) + 1};
}

// The first tab in front of a line's text, of line `at` and its neighbours: what the library says of it is about the
// lines around.
std::optional<YamlMark> indenting_tab(const std::string& text, uint32_t at) {
  std::istringstream stream(text);
  uint32_t number = 0;
  for (std::string line; number <= at && std::getline(stream, line);) {
    ++number;
    const size_t tab = line.find('\t');
    if (number + 1 >= at && tab < line.find_first_not_of(" \t"))
      return YamlMark{number, static_cast<uint32_t>(tab) + 1};
  }
  return std::nullopt;
}

}  // namespace

// Takes the parser's events and builds the document's nodes.
class YamlTreeBuilder : public YAML::EventHandler {
 public:
  YamlTreeBuilder(YamlDocument& document, ConfigErrors& errors) : document_(document), errors_(errors) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override { close(); }

 private:
  struct Open {  // a list or map whose end has not been seen
    uint32_t node;
    YAML::anchor_t anchor;
    uint32_t count_before;
    std::string path;
    bool has_key = false;
    YamlNode::Child pending;
    std::map<std::string, YamlMark> keys;  // met so far
  };
  struct Anchored {
    uint32_t node;
    uint32_t count;  // nodes below and including it
  };

  bool expects_key() const;
  std::string next_path() const;
  void take_key(YamlMark mark, const std::string& text);
  // Appends a node and hangs it into the innermost open list or map. Returns its index.
  uint32_t add(YamlNode node);
  void open(YamlNode::Kind kind, YamlMark mark, const std::string& tag, YAML::anchor_t anchor);
  void close();
  void refuse_tag(YamlMark mark, const std::string& tag) const;
  void count(YamlMark mark, uint32_t nodes);

  YamlDocument& document_;
  ConfigErrors& errors_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  uint32_t count_ = 0;
};

bool YamlTreeBuilder::expects_key() const {
  return !open_.empty() && document_.nodes_[open_.back().node].kind == YamlNode::Kind::kMap && !open_.back().has_key;
}

// Of the value that comes next.
std::string YamlTreeBuilder::next_path() const {
  if (open_.empty()) return "";
  const Open& top = open_.back();
  const YamlNode& node = document_.nodes_[top.node];
  if (node.kind == YamlNode::Kind::kList) return top.path + "[" + std::to_string(node.children.size()) + "]";
  return top.path.empty() ? top.pending.key : top.path + "." + top.pending.key;
}

void YamlTreeBuilder::take_key(YamlMark mark, const std::string& text) {
  Open& top = open_.back();
  top.pending = {text, mark, 0};
  top.has_key = true;
  const auto [first, is_new] = top.keys.emplace(text, mark);
  if (!is_new) {
    errors_.add({document_.file_name_, mark.line, mark.column, next_path(), "the key a second time",
                 "one, as on line " + std::to_string(first->second.line)});
  }
}

void YamlTreeBuilder::count(YamlMark mark, uint32_t nodes) {
  count_ += nodes;
  if (count_ > YamlDocument::kNodesMax) {
    throw Refused{mark, next_path(), "more values", std::to_string(YamlDocument::kNodesMax)};
  }
}

uint32_t YamlTreeBuilder::add(YamlNode node) {
  count(node.mark, 1);
  const auto index = static_cast<uint32_t>(document_.nodes_.size());
  if (open_.empty()) {
    document_.root_ = index;
  } else {
    Open& top = open_.back();
    // The library has no position for a value that is not there.
    if (node.kind == YamlNode::Kind::kNull && top.has_key) node.mark = top.pending.key_mark;
    top.pending.node = index;
    document_.nodes_[top.node].children.push_back(std::move(top.pending));
    top.pending = {};
    top.has_key = false;
  }
  document_.nodes_.push_back(std::move(node));
  return index;
}

void YamlTreeBuilder::refuse_tag(YamlMark mark, const std::string& tag) const {
  // "?" stands for plain and "!" for quoted text; lists and maps have one of these or none.
  if (!tag.empty() && tag != "?" && tag != "!") throw Refused{mark, next_path(), "tag " + tag, "no tags"};
}

void YamlTreeBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  if (expects_key()) throw Refused{to_mark(mark), open_.back().path, "an empty key", "a name"};
  YamlNode node;
  node.mark = to_mark(mark);
  const uint32_t index = add(std::move(node));
  if (anchor != 0) anchors_[anchor] = {index, 1};
}

void YamlTreeBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                               const std::string& value) {
  refuse_tag(to_mark(mark), tag);
  if (expects_key()) return take_key(to_mark(mark), value);
  YamlNode node;
  node.kind = YamlNode::Kind::kScalar;
  node.quoted = tag == "!";
  node.mark = to_mark(mark);
  node.scalar = value;
  const uint32_t index = add(std::move(node));
  if (anchor != 0) anchors_[anchor] = {index, 1};
}

void YamlTreeBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  if (expects_key()) throw Refused{to_mark(mark), open_.back().path, "an alias as key", "a name"};
  const auto target = anchors_.find(anchor);
  if (target == anchors_.end()) {  // known to the library, but not closed yet
    throw Refused{to_mark(mark), next_path(), "an alias of what it stands in", "an alias of a finished value"};
  }
  count(to_mark(mark), target->second.count);
  YamlNode node = document_.nodes_[target->second.node];
  node.mark = to_mark(mark);
  add(std::move(node));
}

void YamlTreeBuilder::open(YamlNode::Kind kind, YamlMark mark, const std::string& tag, YAML::anchor_t anchor) {
  refuse_tag(mark, tag);
  if (expects_key()) throw Refused{mark, open_.back().path, "a list or map as key", "a name"};
  if (open_.size() >= YamlDocument::kDepthMax) {
    throw Refused{mark, next_path(), "deeper nesting", std::to_string(YamlDocument::kDepthMax) + " levels"};
  }
  Open opened{0, anchor, count_, next_path(), false, {}, {}};
  YamlNode node;
  node.kind = kind;
  node.mark = mark;
  opened.node = add(std::move(node));
  open_.push_back(std::move(opened));
}

void YamlTreeBuilder::OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                                      YAML::EmitterStyle::value) {
  open(YamlNode::Kind::kList, to_mark(mark), tag, anchor);
}

void YamlTreeBuilder::OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                                 YAML::EmitterStyle::value) {
  open(YamlNode::Kind::kMap, to_mark(mark), tag, anchor);
}

void YamlTreeBuilder::close() {
  const Open& top = open_.back();
  if (top.anchor != 0) anchors_[top.anchor] = {top.node, count_ - top.count_before};
  open_.pop_back();
}

std::unique_ptr<YamlDocument> YamlDocument::parse(const std::string& text, const std::string& file_name,
                                                  ConfigErrors& errors) {
  const size_t errors_before = errors.size();
  if (text.size() > kBytesMax) {
    errors.add({file_name, 1, 1, "", "a larger file", "1 MiB"});
    return nullptr;
  }
  std::unique_ptr<YamlDocument> document(new YamlDocument(file_name));
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    YamlTreeBuilder builder(*document, errors);
    if (!parser.HandleNextDocument(builder)) document->nodes_.emplace_back();
    YamlDocument rest("");
    YamlTreeBuilder rest_builder(rest, errors);
    if (parser.HandleNextDocument(rest_builder)) {
      errors.add({file_name, 1, 1, "", "several documents", "one"});
    }
  } catch (const Refused& refused) {
    errors.add({file_name, refused.mark.line, refused.mark.column, refused.key, refused.found, refused.allowed});
  } catch (const YAML::Exception& exception) {
    const YamlMark mark = to_mark(exception.mark);
    if (const std::optional<YamlMark> tab = indenting_tab(text, mark.line))
      errors.add({file_name, tab->line, tab->column, "", "a tab", "spaces: YAML is not indented with tabs"});
    else
      errors.add({file_name, mark.line, mark.column, "", "bad YAML (" + exception.msg + ")", "YAML 1.2"});
  }
  return errors.size() == errors_before ? std::move(document) : nullptr;
}

std::unique_ptr<YamlDocument> YamlDocument::load(const std::string& path, ConfigErrors& errors) {
  const auto refuse = [&](const std::string& why) {
    errors.add({path, 1, 1, "", why, "a readable YAML file"});
    return nullptr;
  };
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return refuse("no file (" + std::string(std::strerror(errno)) + ")");
  // One byte more than allowed, so that parse() sees that it is too much, even of a device without end.
  std::string text(kBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return refuse("no text (" + std::string(std::strerror(errno)) + ")");
  text.resize(static_cast<size_t>(file.gcount()));
  return parse(text, path, errors);
}

}  // namespace heddle
