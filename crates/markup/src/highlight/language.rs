//! The languages' syntaxes, as far as the highlighter knows them.

/// The way in which a text is tokenized.
#[derive(Clone, Copy)]
pub enum Syntax {
    Plain,
    Code(&'static CodeSyntax),
    /// HTML and related languages.
    Markup,
    /// Keys and values, line by line: YAML, TOML.
    Settings,
    Diff,
}

/// The lexical syntax of a programming language.
pub struct CodeSyntax {
    /// The prefixes of comments that end with their line.
    pub line_comments: &'static [&'static str],
    /// The beginnings and ends of comments that may have several lines.
    pub block_comments: &'static [(&'static str, &'static str)],
    /// The characters that enclose strings.
    pub quotes: &'static str,
    /// True if three quotes begin a multi-line string.
    pub has_triple_quotes: bool,
    /// True if a single quote can stand alone, as in Rust's `&'a`.
    pub has_lifetimes: bool,
    /// True if a single quote after a word belongs to it, as in Haskell's `x'`.
    pub has_primes: bool,
    /// True if a single quote separates digits, as in C++'s `1'000`.
    pub has_digit_quotes: bool,
    /// Separated by spaces.
    pub keywords: &'static str,
    pub ignores_case: bool,
    /// True if a word before a colon is a name.
    pub has_keys: bool,
    /// The prefix of variables.
    pub sigil: Option<char>,
}

const C_LIKE: CodeSyntax = CodeSyntax {
    line_comments: &["//"],
    block_comments: &[("/*", "*/")],
    quotes: "\"'",
    has_triple_quotes: false,
    has_lifetimes: false,
    has_primes: false,
    has_digit_quotes: false,
    keywords: "alignas auto bool break case catch char class const constexpr continue default delete do double else enum explicit \
               extern false final float for friend goto if inline int long namespace new noexcept nullptr operator override private \
               protected public return short signed sizeof static struct switch template this throw true try typedef typename union \
               unsigned using virtual void volatile while #include #define #if #ifdef #ifndef #else #elif #endif #pragma",
    ignores_case: false,
    has_keys: false,
    sigil: None,
};

/// C and C++, and languages for graphics and devices.
const CPP: CodeSyntax = CodeSyntax {
    has_digit_quotes: true,
    ..C_LIKE
};

const RUST: CodeSyntax = CodeSyntax {
    has_lifetimes: true,
    keywords: "Err None Ok Self Some as async await break const continue crate dyn else enum extern false fn for if impl in let loop \
               match mod move mut pub ref return self static struct super trait true type unsafe use where while",
    ..C_LIKE
};

const GO: CodeSyntax = CodeSyntax {
    quotes: "\"'`",
    keywords: "break case chan const continue default defer else fallthrough false for func go goto if import interface iota map \
               nil package range return select struct switch true type var",
    ..C_LIKE
};

const JAVASCRIPT: CodeSyntax = CodeSyntax {
    quotes: "\"'`",
    keywords: "abstract any as async await boolean break case catch class const continue debugger default delete do else enum export \
               extends false finally for from function get if implements import in infer instanceof interface is keyof let namespace \
               never new null number of private protected public readonly return satisfies set static string super switch this throw \
               true try type typeof undefined unknown var void while with yield",
    ..C_LIKE
};

/// Java, C#, Kotlin, Swift, Scala, Dart: a keyword of one is seldom a name in another.
const JAVA_LIKE: CodeSyntax = CodeSyntax {
    has_triple_quotes: true,
    keywords: "abstract as async await base bool boolean break byte case catch char class companion const continue data def default \
               defer do double echo else enum export extends extension false final finally float for foreach fun func function guard \
               if implements import in init inout int interface internal is late lazy let lock long match namespace native new nil null object \
               operator out override package private protected protocol public readonly record ref required rethrow return sealed self \
               short static string struct super suspend switch this throw throws trait true try type typealias use using val var \
               virtual void volatile when where while with yield",
    ..C_LIKE
};

const PHP: CodeSyntax = CodeSyntax {
    line_comments: &["//", "#"],
    sigil: Some('$'),
    ..JAVA_LIKE
};

const CSS: CodeSyntax = CodeSyntax {
    line_comments: &[],
    keywords: "!important @charset @container @font-face @import @keyframes @layer @media @namespace @page @property @supports",
    has_keys: true,
    ..C_LIKE
};

const PYTHON: CodeSyntax = CodeSyntax {
    line_comments: &["#"],
    block_comments: &[],
    has_triple_quotes: true,
    keywords: "False None True and as assert async await break case class continue def del elif else except finally for from global \
               if import in is lambda match nonlocal not or pass raise return self try while with yield",
    ..C_LIKE
};

/// Ruby, R, Elixir, Nim.
const RUBY_LIKE: CodeSyntax = CodeSyntax {
    keywords: "BEGIN END FALSE NULL TRUE alias and begin break case catch class const def defmodule do elif else elseif elsif end \
               ensure export false fn for foreach function global if import in let local loop macro module my mutable nil next not or \
               our package proc quote redo require rescue return self sub super then true try undef unless until use using var when \
               while with yield",
    ..PYTHON
};

const JULIA: CodeSyntax = CodeSyntax {
    block_comments: &[("#=", "=#")],
    has_primes: true,
    ..RUBY_LIKE
};

const PERL: CodeSyntax = CodeSyntax {
    has_triple_quotes: false,
    sigil: Some('$'),
    ..RUBY_LIKE
};

const POWERSHELL: CodeSyntax = CodeSyntax {
    block_comments: &[("<#", "#>")],
    has_triple_quotes: false,
    sigil: Some('$'),
    ignores_case: true,
    keywords: "begin break catch class continue do dynamicparam else elseif end enum exit filter finally for foreach from function if in \
               param process return switch throw trap try until using while",
    ..RUBY_LIKE
};

/// Lua, Ada.
const LUA_LIKE: CodeSyntax = CodeSyntax {
    line_comments: &["--"],
    block_comments: &[("--[[", "]]")],
    has_triple_quotes: false,
    keywords: "and begin break case class data deriving do else elseif end false for function goto if import in instance is let local \
               loop module nil not of or procedure repeat return then true type until where while",
    ..RUBY_LIKE
};

const HASKELL: CodeSyntax = CodeSyntax {
    block_comments: &[("{-", "-}")],
    has_primes: true,
    keywords: "as case class data default deriving do else forall foreign hiding if import in infix infixl infixr instance let module \
               newtype of qualified then type where",
    ..LUA_LIKE
};

const SQL: CodeSyntax = CodeSyntax {
    line_comments: &["--"],
    keywords: "add all alter and any as asc between by case check column constraint create cross current database default delete desc \
               distinct drop else end escape exists explain false fetch first foreign from full group having if ilike in index inner \
               insert intersect into is join key last left like limit natural not null offset on or order outer over partition primary \
               recursive references returning right select set table then top true union unique update using values view when where \
               window with",
    ignores_case: true,
    ..C_LIKE
};

const SHELL: CodeSyntax = CodeSyntax {
    line_comments: &["#"],
    block_comments: &[],
    keywords: "alias break case cd continue do done echo elif else esac eval exec exit export fi for function if in local printf read \
               return set shift source sudo test then trap unset until while",
    sigil: Some('$'),
    ..C_LIKE
};

const DOCKER: CodeSyntax = CodeSyntax {
    keywords: "ADD ARG AS CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL MAINTAINER ONBUILD RUN SHELL STOPSIGNAL USER VOLUME \
               WORKDIR",
    ..SHELL
};

const JSON: CodeSyntax = CodeSyntax {
    quotes: "\"",
    keywords: "true false null",
    has_keys: true,
    ..C_LIKE
};

/// Queries of search engines.
const SEARCH_QUERY: CodeSyntax = CodeSyntax {
    line_comments: &[],
    block_comments: &[],
    quotes: "\"",
    keywords: "AND OR NOT NEAR ADJ TO",
    has_keys: true,
    ..C_LIKE
};

/// Returns the syntax of a language, by any of its names.
pub fn for_language(language: &str) -> Syntax {
    let is_in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '-');
    let end = language.find(|c| !is_in_name(c)).unwrap_or(language.len());
    let name = language[..end].to_ascii_lowercase();
    match &*name {
        "c" | "h" | "cpp" | "c++" | "cc" | "hpp" | "objc" | "glsl" | "wgsl" | "cuda" | "arduino" | "zig" => {
            Syntax::Code(&CPP)
        }
        "rust" | "rs" => Syntax::Code(&RUST),
        "go" | "golang" => Syntax::Code(&GO),
        "js" | "javascript" | "jsx" | "mjs" | "ts" | "typescript" | "tsx" | "svelte" | "vue" => {
            Syntax::Code(&JAVASCRIPT)
        }
        "java" | "kotlin" | "kt" | "cs" | "c#" | "csharp" | "swift" | "scala" | "dart" | "groovy" => {
            Syntax::Code(&JAVA_LIKE)
        }
        "php" => Syntax::Code(&PHP),
        "css" | "scss" | "less" => Syntax::Code(&CSS),
        "py" | "python" | "python3" | "starlark" => Syntax::Code(&PYTHON),
        "rb" | "ruby" | "r" | "elixir" | "ex" | "exs" | "nim" | "coffee" => Syntax::Code(&RUBY_LIKE),
        "perl" | "pl" => Syntax::Code(&PERL),
        "julia" | "jl" => Syntax::Code(&JULIA),
        "powershell" | "ps1" | "pwsh" => Syntax::Code(&POWERSHELL),
        "lua" | "ada" => Syntax::Code(&LUA_LIKE),
        "haskell" | "hs" | "elm" => Syntax::Code(&HASKELL),
        "sql" | "sqlite" | "postgres" | "postgresql" | "pgsql" | "mysql" | "plsql" => Syntax::Code(&SQL),
        "sh" | "bash" | "zsh" | "shell" | "console" | "fish" | "make" | "makefile" => Syntax::Code(&SHELL),
        "dockerfile" | "docker" => Syntax::Code(&DOCKER),
        "json" | "jsonc" | "json5" | "jsonl" | "ndjson" => Syntax::Code(&JSON),
        "query" => Syntax::Code(&SEARCH_QUERY),
        "html" | "xml" | "svg" | "xhtml" | "rss" | "plist" => Syntax::Markup,
        "yaml" | "yml" | "toml" | "ini" | "conf" | "properties" | "env" | "dotenv" => Syntax::Settings,
        "diff" | "patch" => Syntax::Diff,
        _ => Syntax::Plain,
    }
}
