import type { Upstream } from './upstream.ts';

/** Settings that make Parlor use the scripted server as PubMed. */
export function pubmed(upstream: Upstream): string {
  return `[tools.pubmed]\nbase_url = "${upstream.url}/eutils"\n`;
}

export const tides = { pmid: '11', title: 'Tides of the moon', journal: 'J Water', text: 'The moon moves the sea.' };
export const storms = { pmid: '12', title: 'Storms at sea', journal: 'J Wind', text: 'The wind moves it too.' };

/** Makes every search find these articles, out of a total count. */
export async function placeArticles(upstream: Upstream, total = 2, articles = [tides, storms]): Promise<void> {
  const ids = articles.map(({ pmid }) => pmid);
  await upstream.page('/eutils/esearch.fcgi', { esearchresult: { count: `${total}`, idlist: ids } });
  const summary = ({ pmid, title, journal }: typeof tides) => [
    pmid,
    { title, authors: [{ name: 'Roe J' }, { name: 'Doe A' }], source: journal, pubdate: '2024 Mar', articleids: [{ idtype: 'doi', value: `10.1/${pmid}` }] },
  ];
  await upstream.page('/eutils/esummary.fcgi', { result: { uids: ids, ...Object.fromEntries(articles.map(summary)) } });
  const abstract = ({ pmid, text }: typeof tides) =>
    `<PubmedArticle><MedlineCitation><PMID>${pmid}</PMID><Article><Abstract><AbstractText>${text}</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle>`;
  await upstream.page('/eutils/efetch.fcgi', `<PubmedArticleSet>${articles.map(abstract).join('')}</PubmedArticleSet>`);
}
