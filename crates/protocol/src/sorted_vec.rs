//! Small sorted lists. In the page's WASM they are far smaller than the standard library's sort, which is
//! compiled once for each type.

/// Inserts an item at the place of its key, unless the key is there already.
pub fn insert_sorted<T, K: Ord>(list: &mut Vec<T>, item: T, key: impl Fn(&T) -> K) {
    let item_key = key(&item);
    let index = list.partition_point(|other| key(other) < item_key);
    if list.get(index).is_none_or(|other| key(other) != item_key) {
        list.insert(index, item);
    }
}

#[cfg(test)]
mod tests {
    use super::insert_sorted;

    #[test]
    fn keeps_keys_unique_and_sorted() {
        let mut list = Vec::new();
        for item in [3, 1, 2, 3, 1, 5, 4] {
            insert_sorted(&mut list, item, |item| *item);
        }
        assert_eq!(list, [1, 2, 3, 4, 5]);
    }
}
