//! Texts of many scripts, with what must and what must not find them.

/// Texts, with queries that find them and queries that don't.
pub(super) const CASES: &[(&str, &[&str], &[&str])] = &[
    (
        "今天我们讨论中文全文搜索的实现",
        &["搜索", "全文搜索", "今天", "现", "讨 论", "中文 实现"],
        &["文中", "搜寻", "索搜"],
    ),
    (
        "東京タワーへ行きました。ガイドブックを買った。",
        &["タワー", "東京", "ガイド", "ｶﾞｲﾄﾞ", "行き"],
        &["カイト", "京東", "大阪"],
    ),
    (
        "한국어를 배우고 있습니다",
        &["한국어", "배우", "국어를"],
        &["중국어", "어국"],
    ),
    (
        "ผมชอบกินข้าวผัดกุ้งมาก",
        &["ข้าวผัด", "กุ้ง", "ชอบ"],
        &["ขาว", "กุงเผา", "ปลา"],
    ),
    (
        "قرأتُ الكِتَابَ الجديد في المدرسة",
        &["الكتاب", "كتاب", "مدرسه", "قرأت", "الجديد"],
        &["مكتبة", "كتب"],
    ),
    (
        "Die Donaudampfschifffahrtsgesellschaft prüft Straßenbaumaßnahmen.",
        &[
            "donaudampf",
            "Donaudampfschiff*",
            "STRASSENBAU",
            "pruft",
            "prüft",
            "straßenbaumaßnahmen",
        ],
        &["gesellschaft", "dampf", "strase"],
    ),
    (
        "Call `parseHttpRequest(raw_body)` in HTTPServer, see fn snake_case_name and C++.",
        &[
            "parseHttpRequest",
            "parsehttpreq",
            "http request",
            "HttpRequest",
            "raw_body",
            "case_na",
            "\"snake case\"",
            "C++",
            "c server",
        ],
        &["\"request http\"", "C#", "body_raw"],
    ),
    (
        "Write to jane.doe@example.com or open https://docs.rs/serde_json/1.0?x=1 at 192.168.0.17",
        &[
            "jane.doe@example.com",
            "example.com",
            "docs.rs",
            "https://docs.rs/serde_json",
            "192.168.0.1",
            "doe",
        ],
        &["john@example.com", "example.org", "168.192"],
    ),
    (
        "Launch 🚀 done 👍🏽, thanks 👩‍💻! Flag 🇩🇪",
        &["🚀", "👍", "👍🏿", "👩‍💻", "💻", "🇩🇪", "launch 🚀"],
        &["👎", "🇫🇷", "🚗"],
    ),
    (
        "Crème brûlée at the Café, naïve façade",
        &[
            "creme brulee",
            "CAFÉ",
            "\"brulee at the cafe\"",
            "naiv",
            "the facade",
        ],
        &["\"cafe at\"", "rème", "\"creme caf\""],
    ),
];
